"""The one pin: which llama.cpp the ids are equal to, and where its tables come from."""

# llama.cpp as vendored in this sdist is the reference for behaviour and Unicode data.
SDIST = "llama_cpp_python==0.3.36"
SDIST_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"

# Within the sdist. The file itself names no Unicode version: 15.1 is what its flags agree
# with code point by code point.
LLAMA_CPP = "vendor/llama.cpp"
UNICODE_SOURCE = "src/unicode-data.cpp"
UNICODE_VERSION = "15.1"
