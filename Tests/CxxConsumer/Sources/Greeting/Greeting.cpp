#include "Greeting.hpp"
