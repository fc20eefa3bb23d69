/** The in-toto statement in a bundle, of which nothing is verified. */
export interface Statement {
  readonly predicateType: string;
  readonly predicate: Readonly<Record<string, unknown>>;
  /** The SHA-256 digests of the subjects, in hexadecimal. */
  readonly digests: readonly string[];
}

type Json = Readonly<Record<string, string>>;

const statementTypes = ['https://in-toto.io/Statement/v1', 'https://in-toto.io/Statement/v0.1'];

/** @returns `undefined` if the bundle contains no in-toto statement */
export function readStatement(bundle: unknown): Statement | undefined {
  try {
    const { messageSignature, dsseEnvelope } = bundle as { messageSignature?: unknown; dsseEnvelope: Json };
    if (messageSignature !== undefined) return undefined; // a verifier might verify it instead of the statement
    const { payloadType, payload } = dsseEnvelope;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(payload ?? '', 'base64'));
    const { _type: type, predicateType, predicate, subject } = JSON.parse(text);
    const isStatement = payloadType === 'application/vnd.in-toto+json' && statementTypes.includes(type);
    if (!isStatement || typeof predicateType !== 'string' || typeof predicate !== 'object' || predicate === null) {
      return undefined;
    }
    const digests = (subject as { digest?: { sha256?: unknown } }[]).flatMap(({ digest }) =>
      typeof digest?.sha256 === 'string' ? [digest.sha256] : [],
    );
    return { predicateType, predicate, digests };
  } catch {
    return undefined;
  }
}
