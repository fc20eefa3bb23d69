/**
 * How a task or a result crosses a pipe: JSON, with the bytes of every Uint8Array in it behind the JSON as they are.
 *
 *     u32 length of the JSON | u32 number of parts | u32 length of each part | JSON | the parts
 *
 * In the JSON a part is `{"part": index}`. No other object has a field of that name: what users name travels as text.
 */

/** Where the lengths are: see above. */
const fixedBytes = 8;

export interface Outgoing {
  /** The lengths and the JSON. */
  readonly head: Uint8Array;
  readonly parts: readonly Uint8Array[];
}

/**
 * Takes a message apart. The parts are the message's own, not copies; a Buffer is none, as it becomes JSON by itself.
 *
 * @throws TypeError for an object with a field `part`, which the reader would take for bytes
 */
export function encodeMessage(message: unknown): Outgoing {
  const parts: Uint8Array[] = [];
  const json = JSON.stringify(message, (_, value: unknown) => {
    if (value instanceof Uint8Array) return { part: parts.push(value) - 1 };
    if (isPart(value)) throw new TypeError('A message cannot have a field "part": send the object as text');
    return value;
  });
  const text = Buffer.from(json);
  const head = Buffer.alloc(fixedBytes + 4 * parts.length + text.length);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(parts.length, 4);
  for (const [index, part] of parts.entries()) head.writeUInt32LE(part.length, fixedBytes + 4 * index);
  head.set(text, fixedBytes + 4 * parts.length);
  return { head, parts };
}

function isPart(value: unknown): value is { readonly part: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'part');
}

/** Puts messages together, of which bytes come in pieces of any length. */
export interface MessageReader {
  /** Where the next bytes belong, at least one. */
  readonly room: Uint8Array;
  /**
   * Called when so many bytes have been put there.
   *
   * @returns the message, when it is whole
   */
  advance(byteCount: number): { readonly message: unknown } | undefined;
}

export function createMessageReader(): MessageReader {
  let stage: 'fixed' | 'lengths' | 'json' | 'part' = 'fixed';
  let room: Uint8Array = new Uint8Array(fixedBytes);
  let filled = 0;
  let jsonBytes = 0;
  let partBytes: number[] = [];
  let json = '';
  let parts: Uint8Array[] = [];

  const expect = (next: typeof stage, length: number): void => {
    stage = next;
    room = new Uint8Array(length);
    filled = 0;
  };
  /** Goes on with what comes next and is not empty. */
  const complete = (): { readonly message: unknown } | undefined => {
    const view = Buffer.from(room.buffer, room.byteOffset, room.byteLength);
    if (stage === 'fixed') {
      jsonBytes = view.readUInt32LE(0);
      expect('lengths', 4 * view.readUInt32LE(4));
    } else if (stage === 'lengths') {
      partBytes = Array.from({ length: room.length / 4 }, (_, index) => view.readUInt32LE(4 * index));
      expect('json', jsonBytes);
    } else {
      if (stage === 'json') json = view.toString('utf8');
      else parts.push(room);
      const length = partBytes[parts.length];
      if (length === undefined) return finish();
      expect('part', length);
    }
    return room.length === 0 ? complete() : undefined;
  };
  const finish = (): { readonly message: unknown } => {
    const whole = parts;
    const message: unknown = JSON.parse(json, (_, value: unknown) =>
      isPart(value) ? whole[Number(value.part)] : value,
    );
    parts = [];
    expect('fixed', fixedBytes);
    return { message };
  };

  return {
    get room() {
      return room.subarray(filled);
    },
    advance(byteCount) {
      filled += byteCount;
      return filled < room.length ? undefined : complete();
    },
  };
}
