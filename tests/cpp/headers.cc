// What every test includes, compiled once (CMakeLists.txt).
