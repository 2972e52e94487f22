//! What macOS's linker must be told of a library whose symbols the Python that loads it supplies.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
