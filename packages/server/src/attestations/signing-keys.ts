import { createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import { type AuditActor, record } from '../audit/record.ts';
import type { CacheSpec } from '../cache/cache.ts';
import type { SigningKeyRecord, StoredSigningKey } from '../db/attestation-records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { keyIdOf, type SigningKey, signingKeyOf } from './dsse.ts';

type KeyDeps = Pick<Deps, 'cache' | 'clock' | 'settings'>;

/** Parsed keys, by the SHA-256 of their PEM, which never means another key. The store or the settings say which one is current. */
const parsedKeys: CacheSpec<SigningKey> = { name: 'signing keys', tags: () => [] };

function parseKey({ cache }: Pick<Deps, 'cache'>, privateKeyPem: string): Promise<SigningKey> {
  const digest = hash('sha256', privateKeyPem, 'hex');
  return cache.of(parsedKeys).getOrLoad(digest, () => Promise.resolve(signingKeyOf(privateKeyPem)));
}

/** The clocks of nodes differ. A new key is valid this long before the clock of the node that created it. */
const backdatedMs = 5 * 60_000;

/** As {@link currentSigningKey}, for statements about what is committed. Begins a transaction only if the key is not ready. */
export async function readSigningKey(deps: Pick<Deps, 'store'> & KeyDeps): Promise<SigningKey> {
  const ready = await readyKey(deps, deps.store.read, deps.clock());
  return ready ?? deps.store.write((tx) => currentSigningKey(deps, tx));
}

/**
 * Returns the key with which the server signs: that of the file, or else the newest valid one of the store. Creates it at the first need.
 * The store's transactions are serializable, so that several nodes create one key together.
 *
 * @param nowMs the time that the attestation states, at which the key must be valid
 */
export async function currentSigningKey(
  deps: KeyDeps,
  tx: Transaction,
  nowMs: number = deps.clock(),
): Promise<SigningKey> {
  return (await readyKey(deps, tx, nowMs)) ?? prepareKey(deps, tx, nowMs);
}

/** @returns `undefined` if a key must be created, or the stored periods of the keys must change */
async function readyKey(deps: KeyDeps, read: Queries, nowMs: number): Promise<SigningKey | undefined> {
  const { signingKey: file } = deps.settings;
  if (file !== undefined) {
    const key = await parseKey(deps, file.privateKeyPem);
    const known = await read.signingKey(key.id);
    if (known === undefined || known.validUntilMs !== null) return undefined;
    if (known.revokedAtMs === null) return key;
  }
  const present = (await read.usableSigningKeys()).find((key) => isValidAt(key, nowMs));
  return present && parseKey(deps, present.privateKeyPem ?? '');
}

async function prepareKey(deps: KeyDeps, tx: Transaction, nowMs: number): Promise<SigningKey> {
  const { signingKey: file } = deps.settings;
  if (file !== undefined) {
    const key = await parseKey(deps, file.privateKeyPem);
    const known = await tx.signingKey(key.id);
    if (known === undefined) await registerFileKey(deps, tx, key, nowMs);
    else if (known.validUntilMs !== null) await tx.endSigningKey(key.id, null);
    if (known === undefined || known.revokedAtMs === null) return key;
  }
  const usable = await tx.usableSigningKeys();
  const present = usable.find((key) => isValidAt(key, nowMs)) ?? (await startNextKey(tx, usable, nowMs - backdatedMs));
  const stored = present ?? (await createSigningKey(deps, tx, nowMs - backdatedMs));
  return parseKey(deps, stored.privateKeyPem ?? '');
}

/** Makes the next key of a rotation valid ahead of its time: the one before was revoked. */
async function startNextKey(
  tx: Transaction,
  usable: readonly StoredSigningKey[],
  validFromMs: number,
): Promise<StoredSigningKey | undefined> {
  const next = usable.find((key) => key.validUntilMs === null);
  if (next !== undefined) await tx.startSigningKey(next.id, validFromMs);
  return next;
}

function isValidAt({ validFromMs, validUntilMs }: SigningKeyRecord, atMs: number): boolean {
  return validFromMs <= atMs && (validUntilMs === null || atMs < validUntilMs);
}

/** Makes the file's key the one that signs. The keys of the store stay published. */
async function registerFileKey(deps: KeyDeps, tx: Transaction, key: SigningKey, nowMs: number): Promise<void> {
  for (const other of await tx.usableSigningKeys()) {
    if (other.validUntilMs === null || other.validUntilMs > nowMs) await tx.endSigningKey(other.id, nowMs);
  }
  await insertKey(deps, tx, {
    id: key.id,
    origin: 'file',
    publicKeyPem: publicPemOf(key),
    privateKeyPem: null,
    validFromMs: nowMs - backdatedMs,
    validUntilMs: null,
    revokedAtMs: null,
  });
}

async function createSigningKey(
  deps: KeyDeps,
  tx: Transaction,
  validFromMs: number,
  by?: AuditActor,
): Promise<StoredSigningKey> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const id = keyIdOf(createPublicKey(privateKey));
  return insertKey(
    deps,
    tx,
    {
      id,
      origin: 'store',
      publicKeyPem: publicPemOf({ id, privateKey }),
      privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      validFromMs,
      validUntilMs: null,
      revokedAtMs: null,
    },
    by,
  );
}

function publicPemOf({ privateKey }: SigningKey): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;
}

async function insertKey(
  deps: KeyDeps,
  tx: Transaction,
  key: StoredSigningKey,
  by: AuditActor = 'system',
): Promise<StoredSigningKey> {
  await tx.insertSigningKey(key);
  const details = { origin: key.origin, validFrom: new Date(key.validFromMs).toISOString() };
  await record(deps, tx, by, { action: 'signing_key.create', target: { id: key.id, name: null }, details });
  return key;
}

/**
 * Creates the key at a start, so that clients can pin it before the first publish, and ends the keys that it replaces: those of a file that
 * was replaced, or that is not set.
 */
export async function ensureSigningKey(deps: Pick<Deps, 'store'> & KeyDeps): Promise<void> {
  await deps.store.write(async (tx) => {
    const nowMs = deps.clock();
    const { id } = await currentSigningKey(deps, tx, nowMs);
    for (const key of await tx.signingKeys()) {
      const isReplaced = key.id !== id && key.revokedAtMs === null && key.validUntilMs === null;
      if (isReplaced && key.validFromMs <= nowMs) await tx.endSigningKey(key.id, nowMs);
    }
  });
}

/** Lists all keys, the newest first, also the revoked ones. */
export function listSigningKeys({ store }: Pick<Deps, 'store'>): Promise<SigningKeyRecord[]> {
  return store.read.signingKeys();
}

/**
 * Creates a key that replaces the present one after a delay. Both are published at once, so that clients can pin the new one in time.
 *
 * @throws DomainError `conflict` while the key is in a file, or a rotation is pending
 */
export async function rotateSigningKey(
  deps: Pick<Deps, 'store'> & KeyDeps,
  delayMs: number,
): Promise<{ readonly key: SigningKeyRecord; readonly previous: SigningKeyRecord }> {
  return deps.store.write(async (tx) => {
    if (await signsWithFile(tx)) {
      throw new DomainError(
        'conflict',
        'The signing key is in a file. To rotate it, replace the file and restart the servers.',
      );
    }
    const previous = await requireKey(tx, (await currentSigningKey(deps, tx)).id);
    if (previous.validUntilMs !== null) {
      const at = new Date(previous.validUntilMs).toISOString();
      throw new DomainError('conflict', `A rotation is pending: the next key is valid from ${at}.`);
    }
    const atMs = deps.clock() + delayMs;
    await tx.endSigningKey(previous.id, atMs);
    const key = await createSigningKey(deps, tx, atMs, 'operator');
    return { key: withoutPrivatePart(key), previous: { ...previous, validUntilMs: atMs } };
  });
}

/**
 * Revokes a key: its attestations fail, and the server does not publish it. If the server signed with it, the next key of a
 * rotation or a new key replaces it at once.
 *
 * @throws DomainError `not_found`, `conflict` for a revoked key
 */
export async function revokeSigningKey(deps: Pick<Deps, 'store'> & KeyDeps, id: string): Promise<SigningKeyRecord> {
  return deps.store.write(async (tx) => {
    const key = await requireKey(tx, id);
    if (key.revokedAtMs !== null) throw new DomainError('conflict', 'The signing key is revoked already.');
    const nowMs = deps.clock();
    await tx.revokeSigningKey(id, nowMs);
    await record(deps, tx, 'operator', { action: 'signing_key.revoke', target: { id, name: null } });
    if (!(await signsWithFile(tx))) await currentSigningKey(deps, tx);
    return { ...key, revokedAtMs: nowMs };
  });
}

/** Whether a server signs with a key of a file, which the caller's settings need not name. */
async function signsWithFile(read: Queries): Promise<boolean> {
  const keys = await read.signingKeys();
  return keys.some((key) => key.origin === 'file' && key.validUntilMs === null && key.revokedAtMs === null);
}

async function requireKey(read: Queries, id: string): Promise<SigningKeyRecord> {
  const key = await read.signingKey(id);
  if (key === undefined) throw notFound('signing key');
  return key;
}

function withoutPrivatePart({ privateKeyPem: _, ...key }: StoredSigningKey): SigningKeyRecord {
  return key;
}
