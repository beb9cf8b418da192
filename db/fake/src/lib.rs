//! Empty until its content lands.
