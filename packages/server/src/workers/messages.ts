/**
 * The wire format of tasks and results on a pipe: JSON, followed by the raw bytes of every Uint8Array in the message.
 *
 *     u32 length of the JSON | u32 number of attachments | u32 length of each attachment | JSON | attachments
 *
 * In the JSON, `{"part": index}` stands for an attachment. No other object may have a field `part`, so values with names chosen by
 * users travel as strings of JSON.
 */

/** The size of the first two lengths. */
const fixedHeaderBytes = 8;

interface EncodedMessage {
  readonly head: Uint8Array;
  readonly attachments: readonly Uint8Array[];
}

/**
 * Encodes a message. The attachments share their memory with the message. A Buffer does not become an attachment, because
 * `JSON.stringify()` calls its `toJSON()` first.
 *
 * @throws TypeError for an object with a field `part`, which the decoder would mistake for an attachment
 */
export function encodeMessage(message: unknown): EncodedMessage {
  const attachments: Uint8Array[] = [];
  const json = JSON.stringify(message, (_, value: unknown) => {
    if (value instanceof Uint8Array) return { part: attachments.push(value) - 1 };
    if (isAttachmentReference(value)) {
      throw new TypeError('A message cannot have a field "part": send the object as a string of JSON');
    }
    return value;
  });
  const text = Buffer.from(json);
  const head = Buffer.alloc(fixedHeaderBytes + 4 * attachments.length + text.length);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(attachments.length, 4);
  for (const [index, { length }] of attachments.entries()) head.writeUInt32LE(length, fixedHeaderBytes + 4 * index);
  head.set(text, fixedHeaderBytes + 4 * attachments.length);
  return { head, attachments };
}

function isAttachmentReference(value: unknown): value is { readonly part: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'part');
}

/** A streaming decoder: the caller copies received bytes into `buffer`, then calls `advance()`. */
export type MessageDecoder = ReturnType<typeof createMessageDecoder>;

/**
 * @param maxBytes the maximum length of a message. `advance()` throws a RangeError for a longer one before it allocates memory for it,
 *   and a SyntaxError for invalid JSON.
 */
export function createMessageDecoder(maxBytes = Number.POSITIVE_INFINITY) {
  let remaining = maxBytes;
  let stage: 'fixedHeader' | 'lengths' | 'json' | 'attachment' = 'fixedHeader';
  let target: Uint8Array = new Uint8Array(fixedHeaderBytes);
  let filled = 0;
  let jsonLength = 0;
  let attachmentLengths: number[] = [];
  let json = '';
  let attachments: Uint8Array[] = [];

  const beginStage = (next: typeof stage, length: number): void => {
    remaining -= length;
    if (remaining < 0) throw new RangeError(`The message has more than ${maxBytes} bytes`);
    stage = next;
    target = new Uint8Array(length);
    filled = 0;
  };
  /** Processes a full stage, then any empty stages after it. */
  const finishStage = (): { readonly message: unknown } | undefined => {
    const view = Buffer.from(target.buffer, target.byteOffset, target.byteLength);
    if (stage === 'fixedHeader') {
      jsonLength = view.readUInt32LE(0);
      beginStage('lengths', 4 * view.readUInt32LE(4));
    } else if (stage === 'lengths') {
      attachmentLengths = Array.from({ length: target.length / 4 }, (_, index) => view.readUInt32LE(4 * index));
      beginStage('json', jsonLength);
    } else {
      if (stage === 'json') json = view.toString('utf8');
      else attachments.push(target);
      const nextLength = attachmentLengths[attachments.length];
      if (nextLength === undefined) return finishMessage();
      beginStage('attachment', nextLength);
    }
    return target.length === 0 ? finishStage() : undefined;
  };
  const finishMessage = (): { readonly message: unknown } => {
    const received = attachments;
    const message: unknown = JSON.parse(json, (_, value: unknown) =>
      isAttachmentReference(value) ? received[Number(value.part)] : value,
    );
    attachments = [];
    remaining = maxBytes;
    beginStage('fixedHeader', fixedHeaderBytes);
    return { message };
  };

  return {
    /** Where to write the next bytes; at least one byte long. */
    get buffer(): Uint8Array {
      return target.subarray(filled);
    },
    /**
     * Call after writing this many bytes to `buffer`.
     *
     * @returns the message, once it is complete
     */
    advance(byteCount: number): { readonly message: unknown } | undefined {
      filled += byteCount;
      return filled < target.length ? undefined : finishStage();
    },
  };
}
