import type { AuditLinkRecord, AuditPosition, LinkedAuditEvent } from '../db/audit-chain-records.ts';
import { type AuditEventRecord, deletedUserName } from '../db/audit-records.ts';
import type { StoreFault } from '../db/blob-records.ts';
import type { Deps } from '../deps.ts';
import {
  bodyFields,
  chainStart,
  changedBodyFields,
  digestOfBody,
  digestOfPart,
  type ErasablePart,
  erasableParts,
  hashOfLink,
  isEmptyPart,
} from './chain.ts';
import { sealIfPossible } from './seal.ts';

const batchSize = 500;

/** The maximum number of reported faults. */
const maxFaults = 100;

export interface AuditVerification {
  /** The newest link. */
  readonly head: AuditPosition;
  /** The number of links that were verified. */
  readonly links: number;
  readonly faults: readonly StoreFault[];
}

export interface VerifyAuditOptions {
  /** A position of the chain that was stored elsewhere. */
  readonly expected?: AuditPosition | undefined;
  /** Verifies only the newest links, about this many. Default: all. */
  readonly newest?: number;
  readonly signal?: AbortSignal;
}

/**
 * Verifies the hash chain over the audit trail: every event is unchanged, none is missing, moved or inserted, and what was erased belongs to
 * a deleted account or application. It first seals committed events. The server may run at the same time.
 *
 * A process that can write to the database can also compute a new chain. Only a position that was stored elsewhere detects that.
 */
export async function verifyAuditChain(
  deps: Pick<Deps, 'store' | 'clock' | 'random'>,
  options: VerifyAuditOptions = {},
): Promise<AuditVerification> {
  const { read } = deps.store;
  await sealIfPossible(deps, options.signal);
  const head = (await read.auditPosition('head')) ?? chainStart;
  const chain = createVerifier(await findStart(deps, head, options.newest), head, options.expected);
  for (let isSealed = false; ; ) {
    options.signal?.throwIfAborted();
    const page = await read.auditLinks(chain.last().seq, batchSize);
    for (const linked of page) if (!chain.add(linked)) return chain.result();
    if (page.length === batchSize) continue;
    // The event that explains an erasure may not be sealed yet.
    if (isSealed || !chain.hasUnexplained()) break;
    await sealIfPossible(deps, options.signal);
    isSealed = true;
  }
  // This reads all events.
  const stray = options.newest === undefined ? await read.strayAuditEvents(maxFaults) : [];
  return chain.result(stray.map(({ id }) => ({ subject: `audit event ${id}`, detail: 'it is not in the hash chain' })));
}

async function findStart({ store }: Pick<Deps, 'store'>, head: AuditPosition, newest: number | undefined) {
  const anchor = (await store.read.auditPosition('anchor')) ?? chainStart;
  if (newest === undefined || head.seq - newest <= anchor.seq) return anchor;
  const [first] = await store.read.auditLinks(head.seq - newest - 1, 1);
  return first === undefined ? anchor : { seq: first.link.seq, hash: first.link.hash };
}

/** Why a part of an event may be erased. */
type Erasure = { readonly fault: StoreFault; readonly kind: 'account' | 'app'; readonly id: string | null };

function createVerifier(start: AuditPosition, head: AuditPosition, expected: AuditPosition | undefined) {
  const faults: StoreFault[] = [];
  const erasures: Erasure[] = [];
  const deleted = { account: new Set<string>(), app: new Set<string>() };
  let last = start;
  let links = 0;
  let isCompared = false;
  const compare = (position: AuditPosition): void => {
    if (expected === undefined || isCompared || position.seq !== expected.seq) return;
    isCompared = true;
    if (position.hash === expected.hash) return;
    faults.push({
      subject: `audit event ${position.seq}`,
      detail: 'its hash is not that of the expected head: the chain was rewritten',
    });
  };
  compare(start);

  const addErasure = (link: AuditLinkRecord, kind: Erasure['kind'], id: string | null, detail: string): void => {
    erasures.push({ kind, id, fault: { subject: subjectOf(link), detail } });
  };
  const checkPart = (link: AuditLinkRecord, event: AuditEventRecord, part: ErasablePart): void => {
    const [digest, salt] = [link[part], link[`${part}Salt`]];
    const names = quote(erasableParts[part]);
    const isEmpty = isEmptyPart(event, part);
    if (digest === null) {
      if (!isEmpty) faults.push({ subject: subjectOf(link), detail: `${names} had no value, and has one` });
    } else if (salt !== null) {
      if (digestOfPart(event, part, salt) !== digest) {
        faults.push({ subject: subjectOf(link), detail: `${names} changed` });
      }
    } else if (part === 'guests') {
      if (!isEmpty) faults.push({ subject: subjectOf(link), detail: `${names} was erased, and has a value` });
      addErasure(link, 'app', event.appId, `${names} was erased, but its application was not deleted`);
    } else {
      if (!isErased(event, part))
        faults.push({ subject: subjectOf(link), detail: `${names} was erased, and has a value` });
      const id = part === 'person' ? event.accountId : event.targetId;
      addErasure(link, 'account', id, `${names} was erased, but its account was not deleted`);
    }
  };
  const checkEvent = (link: AuditLinkRecord, event: AuditEventRecord): void => {
    if (link.bodySalt === null) {
      faults.push({ subject: subjectOf(link), detail: 'it was deleted, and exists' });
      return;
    }
    if (digestOfBody(event, link.bodySalt) !== link.body) {
      const fields = changedBodyFields(event, link, link.bodySalt);
      faults.push({ subject: subjectOf(link), detail: `${quote(fields.length > 0 ? fields : bodyFields)} changed` });
    }
    for (const part of Object.keys(erasableParts) as ErasablePart[]) checkPart(link, event, part);
    if (event.action === 'account.delete') deleted.account.add(event.targetId);
    if (event.action === 'app.delete') deleted.app.add(event.targetId);
  };

  return {
    last: () => last,
    /** @returns whether the next link can be checked */
    add({ link, event }: LinkedAuditEvent): boolean {
      if (link.seq !== last.seq + 1) {
        faults.push({ subject: `audit event ${last.seq + 1}`, detail: 'its link is missing' });
        return false;
      }
      if (hashOfLink(link, last.hash) !== link.hash) {
        faults.push({
          subject: subjectOf(link),
          detail: 'its link was changed, moved, or inserted: it does not follow the previous one',
        });
        return false;
      }
      links++;
      last = { seq: link.seq, hash: link.hash };
      compare(last);
      if (last.seq === head.seq && last.hash !== head.hash) {
        faults.push({ subject: subjectOf(link), detail: 'its hash is not that of the stored head' });
      }
      if (event !== undefined) checkEvent(link, event);
      else if (link.bodySalt !== null) faults.push({ subject: subjectOf(link), detail: 'it is missing' });
      else addErasure(link, 'account', link.subjectId, 'it is missing, but its account was not deleted');
      return faults.length < maxFaults;
    },
    hasUnexplained: () => erasures.some(({ kind, id }) => id === null || !deleted[kind].has(id)),
    result(others: readonly StoreFault[] = []): AuditVerification {
      const unexplained = erasures.filter(({ kind, id }) => id === null || !deleted[kind].has(id));
      const ends: StoreFault[] = [];
      const isBroken = faults.length > 0;
      if (!isBroken && last.seq < head.seq) {
        ends.push({ subject: `audit event ${last.seq + 1}`, detail: 'its link is missing' });
      }
      if (expected !== undefined && !isCompared && !isBroken) {
        const detail =
          expected.seq < start.seq
            ? 'it is the expected head, and audit retention has deleted it'
            : 'it is the expected head, and the chain does not reach it';
        ends.push({ subject: `audit event ${expected.seq}`, detail });
      }
      const all = [...faults, ...unexplained.map(({ fault }) => fault), ...ends, ...others];
      return { head: last, links, faults: all.slice(0, maxFaults) };
    },
  };
}

/** Whether the fields of an erased part have only the values that the erasure writes. */
function isErased(event: AuditEventRecord, part: 'person' | 'target'): boolean {
  const isPlaceholder = (name: string | null) => name === null || name === deletedUserName;
  if (part === 'target') return isPlaceholder(event.targetName);
  return isPlaceholder(event.userName) && event.viaName === null && event.address === null;
}

function subjectOf({ seq, eventId }: AuditLinkRecord): string {
  return `audit event ${seq}, ${eventId}`;
}

function quote(fields: readonly string[]): string {
  return fields.map((field) => `"${field}"`).join(' or ');
}
