import { createHash } from 'node:crypto';
import {
  bindingLine,
  type ExtensionPointPredicate,
  extensionPointLine,
  extensionPointPredicateType,
  pluginId,
} from '@tenon/protocol';
import { signStatement } from '../attestations/dsse.ts';
import { readSigningKey } from '../attestations/signing-keys.ts';
import { statementType } from '../attestations/statement.ts';
import { readAllPages } from '../db/paging.ts';
import type { ExtensionPointRecord } from '../db/records.ts';
import type { BindingPosition, BindingToAttest, GuestToAttest, Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import { createDocumentReader, type DocumentReader } from './version-documents.ts';

/** How many guests, and how many bindings of these, one query reads. */
const [maxGuests, maxBindings] = [200, 1000];

/** The time in an attestation is that of the newest change, so that equal states have equal attestations. */
interface AttestedState {
  readonly sha256: string;
  readonly bindings: number;
  readonly changedAtMs: number;
}

/**
 * Signs the state of an extension point: its name, schema, and limits, and what is bound under which guest key, with the documents about it.
 * All of it is read from one snapshot.
 *
 * @throws DomainError `not_found`
 */
export async function attestExtensionPoint(
  deps: Pick<Deps, 'store' | 'cache' | 'clock' | 'settings' | 'baseUrl'>,
  { id, appId }: Pick<ExtensionPointRecord, 'id' | 'appId'>,
  signal: AbortSignal,
): Promise<{ readonly predicate: ExtensionPointPredicate; readonly bundle: string }> {
  const state = await deps.store.readSnapshot(async (read) => {
    const extensionPoint = await read.extensionPoint(id);
    if (extensionPoint === undefined) throw notFound('extension point');
    return readState(read, extensionPoint, createDocumentReader(deps, read), signal);
  });
  const { sha256, bindings, changedAtMs } = state;
  const changedAt = new Date(changedAtMs).toISOString();
  const predicate = { server: deps.baseUrl(), appId, extensionPointId: id, bindings, changedAt };
  const bundle = signStatement(await readSigningKey(deps), {
    _type: statementType,
    subject: [{ name: id, digest: { sha256 } }],
    predicateType: extensionPointPredicateType,
    predicate,
  });
  return { predicate, bundle };
}

async function readState(
  read: Queries,
  extensionPoint: ExtensionPointRecord,
  readDocuments: DocumentReader,
  signal: AbortSignal,
): Promise<AttestedState> {
  const { schemaJson, updatedAtMs } = extensionPoint;
  const digest = createHash('sha256').update(extensionPointLine({ ...extensionPoint, schema: JSON.parse(schemaJson) }));
  let [bindings, changedAtMs] = [0, Math.max(updatedAtMs, await read.bindingsDeletedAtMs(extensionPoint.id))];
  for await (const page of readBindings(read, extensionPoint)) {
    for (const binding of page) {
      signal.throwIfAborted();
      changedAtMs = Math.max(changedAtMs, binding.updatedAtMs);
      const { userId, name, number, contentAddress, size } = binding;
      if (number === null || contentAddress === null || size === null) continue;
      const documents = await readDocuments({ extensionPointId: extensionPoint.id, userId, name }, number);
      changedAtMs = Math.max(changedAtMs, documents.changedAtMs);
      const { guestKey, userName, semver, note } = binding;
      const plugin = pluginId(extensionPoint.id, userId, name);
      const version = { version: number, semver, note, contentAddress, size, documents: documents.digests };
      digest.update(bindingLine({ guestKey, plugin, name, userName, ...version }));
      bindings++;
    }
  }
  return { sha256: digest.digest('hex'), bindings, changedAtMs };
}

/** Reads the bindings by guest key and name. Each query reads an index in its order, or sorts the bindings of few guests. */
async function* readBindings(
  read: Queries,
  { id, appId }: ExtensionPointRecord,
): AsyncGenerator<readonly BindingToAttest[]> {
  const keyOf = ({ guestKey }: GuestToAttest): string => guestKey;
  const positionOf = ({ guestKey, name }: BindingToAttest): BindingPosition => ({ guestKey, name });
  const guests = readAllPages(maxGuests, keyOf, ({ after, limit }) => read.guestsToAttest(appId, after, limit));
  for await (const some of guests) {
    const guestIds = some.map((guest) => guest.id);
    yield* readAllPages(maxBindings, positionOf, ({ after, limit }) =>
      read.bindingsToAttest(id, guestIds, after, limit),
    );
  }
}
