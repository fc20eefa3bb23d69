mod bindings;
mod extism;
mod json;
mod json_text;
mod plugin;
