#!/usr/bin/env bash
# shardlings train --report: what it refuses, and the page that it writes, in Debian's headless Chromium:
# report_test.sh BUILD. lib/scripts/setup.sh browser installs the browser.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh

small=(--layers 2 --hidden 16 --heads 2 --seq 16 --batch 4 --steps 4 --log-every 4)
trains() { accepted train "${small[@]}" "$@"; }  # ARGUMENT…

# The command must fail before a step is trained, when it has said nothing but the message, and leave no page.
message_lines=2  # and where help is
refused() { fails_with "$1" "$program" train "${small[@]}" "${@:2}"; }  # MESSAGE ARGUMENT…

# --- what is refused before anything is trained
trains --json "$folder/baseline.json"
refused "expected a name that ends in .html" --report "$folder/out.pdf"
refused 'nowhere.*No such file' --report "$folder/nowhere/out.html"
mkdir "$folder/folder.html"
refused 'not a regular file' --report "$folder/folder.html"
refused '/proc/out.html' --report /proc/out.html
refused 'choose two names' --report "$folder/out.html" --json "$folder/out.html"
refused '[-]-baseline requires --report' --baseline "$folder/baseline.json"
refused "cannot read '.*missing.json'" --report "$folder/out.html" --baseline "$folder/missing.json"
echo '{"steps": []}' >"$folder/empty.json"
echo '{"steps": [{"step": 1, "loss": "much"}]}' >"$folder/text.json"
echo '[1, 2' >"$folder/broken.json"
for file in empty text broken; do
    refused "$file.json' (has no losses of a run|is damaged or no JSON): expected a file that shardlings train --json wrote" \
        --report "$folder/out.html" --baseline "$folder/$file.json"
done

# --- a run that ends early leaves no page, and says so
ends_early() {  # MESSAGE
    local message=$1 output code=0
    output=$("$program" train "${small[@]}" --memory-budget 40KiB --report "$folder/early.html" 2>&1) || code=$?
    if [[ $code -ne 0 && $(grep -cE -- "$message" <<<"$output") -eq 1 ]]; then ok; else wrong "code $code, expected '$message', it said: $output"; fi
}
ends_early 'early.html: the run did not get to its end, after which it is written$'
touch -d '1 hour ago' "$folder/early.html"
ends_early 'early.html: .* is written; the file that is there is an older one$'
if [[ -s $folder/early.html ]]; then wrong 'an early end wrote a page'; else ok; fi

# --- pages: eight ranks on two nodes beside the single process, one rank alone, names that look like markup
cluster=(--pp 2 --dp 2 --tp 2 --zero 1 --schedule 1f1b --microbatches 2 --topology 2x4 --memory-budget 96KiB
    --device-flops 1e9)
trains "${cluster[@]}" --report "$folder/run.html" --json "$folder/run.json" --baseline "$folder/baseline.json"
cp "$folder/run.html" "$folder/first.html"
trains "${cluster[@]}" --report "$folder/run.html" --baseline "$folder/baseline.json"
same_file "$folder/run.html" "$folder/first.html"
trains --report "$folder/one.html"
trains --pp 2 --schedule naive --microbatches 2 --report "$folder/naive.html"
cp "$folder/baseline.json" "$folder/same.json"
trains --seed 2 --report "$folder/same.html" --json "$folder/same.json" --baseline "$folder/same.json"
mkdir -p "$folder/<" "$folder/</script><script>caught=1<"
head -c 4000 LICENSE >"$folder/</script><script>caught=1</script><b class=caught>&amp;"
sed 's/"batch": 4/"batch": 8/' "$folder/baseline.json" >"$folder/</script><b class=caught>"$'\xff.json'
trains --report "$folder/hostile.html" --data "$folder/</script><script>caught=1</script><b class=caught>&amp;" \
    --baseline "$folder/</script><b class=caught>"$'\xff.json'
addresses=$(grep -oE '[a-z]+://[^"'"'"' <]+' "$folder/run.html" | sort -u)
if [[ $addresses == http://www.w3.org/2000/svg ]]; then ok; else wrong "the page names addresses: $addresses"; fi
bytes=$(wc -c <"$folder/run.html")
if ((bytes < 3 << 20)); then ok; else wrong "the page has $bytes bytes"; fi
if compgen -G "$folder/.*.tmp-*" >/dev/null; then wrong 'a temporary file is left'; else ok; fi

# --- the page in the browser
output=$(timeout 600 python3 tests/lib/browser/report_page.py "$folder" 2>&1)
printf '%s\n' "$output"
summary=${output##*$'\n'}
if [[ $summary =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
else
    wrong "the browser's tests did not end: $summary"
fi

finish
