/** A kind of request, and what is to come back. It goes from process to process. */
export interface RequestKind {
  readonly name: string;
  /** How often it is asked, beside the others' weights. */
  readonly weight: number;
  readonly method: string;
  /** `{connection}` in it becomes the number of the connection, and `{any}` each time another number. */
  readonly path: string;
  /** Below what those numbers are. */
  readonly anyBelow?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Where in the body 16 bytes are to be others each time. */
  readonly freshAt?: number;
  readonly status: number;
  /** How long the answer's body is to be; any length will do without it. */
  readonly answerBytes?: number;
}

const freshBytes = 16;

/** The bytes of a kind's requests on one connection. @param run what no other connection has, in 8 bytes */
export function createRequestWriter(
  kind: RequestKind,
  host: string,
  connection: number,
  run: Uint8Array,
): () => Buffer {
  const { method, headers, body, freshAt } = kind;
  const path = kind.path.replaceAll('{connection}', String(connection));
  const fields = Object.entries({ host, ...headers, ...(body && { 'content-length': String(body.length) }) });
  const head = `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
  if (kind.anyBelow !== undefined) return anyWriter(head, kind.anyBelow);
  if (freshAt === undefined) return () => bytes;
  if (body === undefined || freshAt + freshBytes > body.length) throw new RangeError(`The body ends before ${freshAt}`);
  let number = 0n;
  return () => {
    const fresh = Buffer.from(bytes); // what was sent before may still wait to go out
    const at = bytes.length - body.length + freshAt;
    fresh.set(run.subarray(0, 8), at);
    fresh.writeBigUInt64LE(number++, at + 8);
    return fresh;
  };
}

/** Requests without a body, with a number in each that is drawn at random. */
function anyWriter(head: string, below: number): () => Buffer {
  const [before = '', after = ''] = head.split('{any}');
  return () => Buffer.from(`${before}${Math.floor(Math.random() * below)}${after}`, 'latin1');
}

/**
 * Which kind comes next, so that each has the share that its weight says, evenly spread: the one that lags behind most.
 *
 * @param offset how many are passed over, so that connections don't all ask the same at a time
 */
export function createMix(weights: readonly number[], offset: number): () => number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (weights.length === 0 || !weights.every((weight) => weight > 0))
    throw new RangeError('Each weight is to be above 0');
  const credit = weights.map(() => 0);
  const next = (): number => {
    let chosen = 0;
    weights.forEach((weight, at) => {
      credit[at] = (credit[at] ?? 0) + weight;
      if ((credit[at] ?? 0) > (credit[chosen] ?? 0)) chosen = at;
    });
    credit[chosen] = (credit[chosen] ?? 0) - total;
    return chosen;
  };
  for (let at = 0; at < offset; at++) next();
  return weights.length === 1 ? () => 0 : next;
}
