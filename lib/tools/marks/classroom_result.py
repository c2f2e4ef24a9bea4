#!/usr/bin/env python3
"""The grade as the step output that GitHub Classroom's grading reporter reads.

    lib/tools/marks/classroom_result.py GRADE.json >> "$GITHUB_OUTPUT"

One line, result=BASE64, of {"version", "status", "max_score", "tests": [{"name", "status", "score", "message", ...}]}.
"""

import base64
import json
import sys


def result_of(grade):
    late = 1.0 - grade["percent_off"] / 100.0
    tests = []
    for exercise in grade["exercises"]:
        done = exercise["status"] == "done"
        messages = [message for test in exercise["tests"] for message in test["messages"]]
        tests.append({
            "name": f"{exercise['id']} {exercise['title']}",
            "status": "pass" if done else "fail",
            "score": exercise["points"] * late,
            "message": "" if done else "\n".join([exercise["status"], exercise.get("note", "")] + messages[:3]),
            "test_code": "",
            "filename": "",
            "line_no": 0,
            "execution_time": "",
        })
    whole = all(test["status"] == "pass" for test in tests)
    return {"version": 1, "status": "pass" if whole else "fail", "max_score": grade["max"], "tests": tests}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: classroom_result.py GRADE.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        result = result_of(json.load(file))
    print("result=" + base64.b64encode(json.dumps(result).encode()).decode())


if __name__ == "__main__":
    main()
