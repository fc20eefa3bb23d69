import { TraceError } from './errors.ts';

/** The contents of a module's `name` section, fetched when asked for. Throws `invalid_module` for what is no module. */
export function nameSectionOf(module: WebAssembly.Module | BufferSource): () => Uint8Array | undefined {
  if (module instanceof WebAssembly.Module) {
    return () => {
      const [section] = WebAssembly.Module.customSections(module, 'name');
      return section && new Uint8Array(section);
    };
  }
  const section = findNameSection(bytesOf(module));
  return () => section;
}

function bytesOf(source: BufferSource): Uint8Array {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (typeof source === 'object' && source !== null && 'byteLength' in source) return new Uint8Array(source);
  throw new TraceError('invalid_module', 'Cannot trace: expected a WebAssembly.Module or its bytes');
}

const preamble = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** https://webassembly.github.io/spec/core/binary/modules.html#sections */
function findNameSection(bytes: Uint8Array): Uint8Array | undefined {
  if (preamble.some((byte, index) => bytes[index] !== byte)) {
    throw new TraceError('invalid_module', 'Cannot trace: these bytes are no WebAssembly core module');
  }
  for (let at = preamble.length; at < bytes.length; ) {
    const id = bytes[at];
    const size = readU32(bytes, at + 1);
    const end = size === undefined ? Number.NaN : size.next + size.value;
    if (size === undefined || !(end <= bytes.length)) break;
    if (id === 0 && isNameSection(bytes, size.next)) return bytes.slice(size.next + nameOfNames.length, end);
    at = end;
  }
  return undefined;
}

/** The section's name as it stands at its beginning, its length first. */
const nameOfNames = [4, 0x6e, 0x61, 0x6d, 0x65];

function isNameSection(bytes: Uint8Array, at: number): boolean {
  return nameOfNames.every((byte, index) => bytes[at + index] === byte);
}

/** Unsigned LEB128 of at most 32 bits. */
export function readU32(
  bytes: Uint8Array,
  start: number,
  end: number = bytes.length,
): { value: number; next: number } | undefined {
  let value = 0;
  for (let at = start, factor = 1; at < end && factor < 2 ** 35; at++, factor *= 128) {
    const byte = bytes[at] as number;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value < 2 ** 32 ? { value, next: at + 1 } : undefined;
  }
  return undefined;
}
