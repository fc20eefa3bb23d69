import { type SigningKey, signingKeys } from '@tenon/protocol';
import type { SigningKeyRecord } from '../db/attestation-records.ts';
import { limitPublicReads } from '../http/limits/public-reads.ts';
import { conditionalRead, sendRepresentation } from '../http/representation.ts';
import { type Route, routeTagged } from '../http/route.ts';

const route = routeTagged('Distribution');

const example = {
  keys: [
    {
      keyId: '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29',
      algorithm: 'ed25519',
      publicKey: '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA…\n-----END PUBLIC KEY-----\n',
      validFrom: '2026-03-01T12:00:00.000Z',
      validUntil: null,
    },
  ],
} as const;

const read = conditionalRead('the keys, without revoked ones', signingKeys, example);

export const signingKeyRoutes: readonly Route[] = [
  route('GET', '/.well-known/tenon-signing-keys.json', {
    access: { kind: 'public' },
    id: 'readSigningKeys',
    summary: "Read the public keys of the server's attestations",
    description: 'Pin them in hosts. A new key is listed before the server signs with it.',
    ...read,
    errors: [...read.errors, 'rate_limited'],
    async handle(services, { request }, reply) {
      limitPublicReads(services, request);
      const keys = await services.deps.store.read.signingKeys();
      reply.header('cache-control', 'public, max-age=300');
      return sendRepresentation(request, reply, {
        keys: keys.filter((key) => key.revokedAtMs === null).map(toSigningKey),
      });
    },
  }),
];

export function toSigningKey({ id, publicKeyPem, validFromMs, validUntilMs }: SigningKeyRecord): SigningKey {
  return {
    keyId: id,
    algorithm: 'ed25519',
    publicKey: publicKeyPem,
    validFrom: new Date(validFromMs).toISOString(),
    validUntil: validUntilMs === null ? null : new Date(validUntilMs).toISOString(),
  };
}
