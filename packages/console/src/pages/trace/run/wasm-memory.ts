/** An address in a memory: modules hand over what is above 2 GiB as a negative number. */
export type Pointer = number;

/** Of the memory as it is now: when it grows, what was made before is of no use. */
export function viewOf(memory: WebAssembly.Memory): DataView {
  return new DataView(memory.buffer);
}
