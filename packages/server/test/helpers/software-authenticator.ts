import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { PasskeyAssertion, PasskeyAttestation } from '@tenon/protocol';

/** The algorithms of COSE keys: https://www.iana.org/assignments/cose/cose.xhtml#algorithms */
const coseAlgorithms = { ES256: -7, EdDSA: -8, RS256: -257 } as const;

export type Algorithm = keyof typeof coseAlgorithms;

type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>;

/** What a test changes in a response, to make it wrong. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly challenge?: string;
  /** The flags of the authenticator data. Default: present and verified. */
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly fmt?: string;
}

export interface SoftwareAuthenticator {
  readonly credentialId: string;
  /** Answers `navigator.credentials.create()`. */
  create(options: unknown, deviation?: Deviation): PasskeyAttestation;
  /** Answers `navigator.credentials.get()`. */
  get(options: unknown, deviation?: Deviation): PasskeyAssertion;
}

const presentAndVerified = 0b101;
const hasCredential = 0b100_0000;

/** An authenticator with one discoverable credential, and a counter that counts up: https://www.w3.org/TR/webauthn-3/ */
export function createAuthenticator(
  origin = 'http://localhost:8366',
  algorithm: Algorithm = 'ES256',
): SoftwareAuthenticator {
  const { publicKey, privateKey } = generateKey(algorithm);
  const id = randomBytes(16);
  const credentialId = id.toString('base64url');
  let counter = 0;
  let userHandle: string | undefined;
  const rpIdOf = ({ rpId }: Deviation) => rpId ?? new URL(origin).hostname;
  const clientData = (type: string, options: unknown, deviation: Deviation) => {
    const { challenge } = options as { challenge: string };
    const { crossOrigin = false } = deviation;
    const { type: otherType = type, challenge: other = challenge, origin: otherOrigin = origin } = deviation;
    return Buffer.from(JSON.stringify({ type: otherType, challenge: other, origin: otherOrigin, crossOrigin }));
  };
  const header = (deviation: Deviation, flags: number): Buffer => {
    counter = deviation.counter ?? counter + 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([hash('sha256', rpIdOf(deviation), 'buffer'), Buffer.of(deviation.flags ?? flags), count]);
  };
  return {
    credentialId,
    create(options, deviation = {}) {
      userHandle = (options as { user: { id: string } }).user.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const flags = (deviation.flags ?? presentAndVerified) | hasCredential;
      const authData = Buffer.concat([
        header({ ...deviation, flags }, flags),
        Buffer.alloc(16),
        length,
        id,
        encode(coseKey(algorithm, publicKey)),
      ]);
      const attestation = new Map<string, Cbor>([
        ['fmt', deviation.fmt ?? 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      return {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: clientData('webauthn.create', options, deviation).toString('base64url'),
          attestationObject: encode(attestation).toString('base64url'),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      };
    },
    get(options, deviation = {}) {
      const authenticatorData = header(deviation, presentAndVerified);
      const clientDataJSON = clientData('webauthn.get', options, deviation);
      const signed = Buffer.concat([authenticatorData, hash('sha256', clientDataJSON, 'buffer')]);
      const handle = deviation.userHandle ?? userHandle;
      return {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: clientDataJSON.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: sign(algorithm === 'EdDSA' ? null : 'sha256', signed, privateKey).toString('base64url'),
          ...(handle !== undefined && { userHandle: handle }),
        },
        clientExtensionResults: {},
      };
    },
  };
}

function generateKey(algorithm: Algorithm): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** A public key: https://www.rfc-editor.org/rfc/rfc9053#section-7, https://www.rfc-editor.org/rfc/rfc8230#section-4 */
function coseKey(algorithm: Algorithm, publicKey: KeyObject): ReadonlyMap<number, Cbor> {
  const { x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  const alg = coseAlgorithms[algorithm];
  const [okp, ec2, rsa] = [1, 2, 3];
  if (algorithm === 'ES256') {
    return new Map<number, Cbor>([
      [1, ec2 ?? 0],
      [3, alg],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
  }
  if (algorithm === 'EdDSA')
    return new Map<number, Cbor>([
      [1, okp ?? 0],
      [3, alg],
      [-1, 6],
      [-2, bytes(x)],
    ]);
  return new Map<number, Cbor>([
    [1, rsa ?? 0],
    [3, alg],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ]);
}

/** Encodes CBOR: https://www.rfc-editor.org/rfc/rfc8949#section-3 */
function encode(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...Array.from(value).flatMap(([key, one]) => [encode(key), encode(one)])]);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value);
  if (value < 0x100) return Buffer.of((major << 5) | 24, value);
  return Buffer.of((major << 5) | 25, value >> 8, value & 0xff);
}
