// Runs one case of lesson 05 on the code it is linked with.
#include "lib/tools/grade/driver.hpp"

#include "lessons/05_zero/memory.hpp"
#include "tests/05_zero/driver_elsewhere.hpp"
#include "tests/05_zero/driver_gradients.hpp"
#include "tests/05_zero/driver_optimizer.hpp"
#include "tests/05_zero/driver_train.hpp"
#include "tests/05_zero/driver_values.hpp"

using namespace grade;

namespace {

zero::StateBytes state_bytes_of(Case& c)
{
    return zero::state_bytes(static_cast<int>(c.integer("stage")), c.number("parameters"),
                             static_cast<int>(c.integer("degree")), parse_dtype(c.text("dtype")));
}

void state_bytes(Case& c)
{
    const zero::StateBytes bytes = state_bytes_of(c);
    c.put("parameters", bytes.parameters);
    c.put("gradients", bytes.gradients);
    c.put("optimizer_states", bytes.optimizer_states);
    c.put("total", bytes.total());
}

void sent_elements(Case& c)
{
    c.put("elements", zero::sent_elements(static_cast<int>(c.integer("stage")), c.number("parameters"),
                                          static_cast<int>(c.integer("degree"))));
}

/// The message of the Error that an operation ends with, or nothing.
void refused(Case& c)
{
    const std::map<std::string, Operation> operations{{"state_bytes", state_bytes},
                                                      {"sent_elements", sent_elements}};
    std::string message;
    try {
        operations.at(c.text("operation"))(c);
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        message = error.what();
    }
    c.put("message", message);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"state_bytes", state_bytes},
                       {"sent_elements", sent_elements},
                       {"refused", refused},
                       {"optimizer", zero_test::optimizer},
                       {"gradients", zero_test::gradients},
                       {"values", zero_test::values},
                       {"states_elsewhere", zero_test::states_elsewhere},
                       {"gradients_elsewhere", zero_test::gradients_elsewhere},
                       {"values_elsewhere", zero_test::values_elsewhere},
                       {"train", zero_test::train},
                       {"refused_replica", zero_test::refused_replica}});
}
