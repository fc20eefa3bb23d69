import { type AuditAction, auditActions, type OperatorAuditEntry } from '@tenon/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import { parseCount } from './command.ts';
import { isDuration, parseDuration } from './duration.ts';
import type { Io } from './io.ts';
import type { Reporter } from './output.ts';
import { formatTime, printable } from './text.ts';

/** A position in the hash chain over the audit trail. */
interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Writes a head as {@link parseHead} reads it. */
export function formatHead({ seq, hash }: AuditHead): string {
  return `${seq}:${hash}`;
}

/** Reads the head that `tenon admin audit-head` wrote. */
export function parseHead(text: string): AuditHead {
  const [, seq, hash] = /^(\d{1,15}):([\w-]{43}|)$/.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined && (Number(seq) === 0) === (hash === ''))
    return { seq: Number(seq), hash };
  throw new InvalidArgumentError('It is a number, a colon, and a hash, as "tenon admin audit-head" writes them.');
}

/** Which entries of an audit trail a command is about. */
export interface AuditOptions {
  readonly action?: AuditAction;
  readonly user?: string;
  readonly target?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit: number;
}

const defaultLimit = 50;

/** Adds the ways to say which entries, but for the action. */
export function withAuditFilter(command: Command, { clockMs }: Pick<Io, 'clockMs'>): Command {
  const parse = (text: string): Date => parseMoment(text, clockMs());
  return command
    .option('--user <user>', 'only what this user did: an id, usr_…')
    .option('--target <id>', 'only what was done to this object: its id')
    .option('--since <time>', 'from this time on: 2026-03-01, 2026-03-01T12:00Z, or a time ago: 90m, 12h, 7d', parse)
    .option('--until <time>', 'before this time', parse)
    .option('--limit <number>', 'show at most this many entries', parseCount, defaultLimit);
}

/** A moment as people write it: a date (its start, in UTC), a time, or how long ago it was. */
export function parseMoment(text: string, nowMs: number): Date {
  if (isDuration(text)) return momentAgo(parseDuration(text), nowMs);
  const isWhole = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const moment = new Date(text);
  if (isWhole && Number.isFinite(moment.getTime())) return moment;
  throw new InvalidArgumentError('It is a date, a time with its zone, or how long ago: 2026-03-01, 12h, 7d.');
}

function momentAgo(agoMs: number, nowMs: number): Date {
  if (agoMs > nowMs) throw new InvalidArgumentError('It is before 1970.');
  return new Date(nowMs - agoMs);
}

type ShownEntry = Pick<OperatorAuditEntry, 'at' | 'action' | 'by' | 'user' | 'via' | 'target' | 'guestKeys'>;

/** Writes entries for people: when, who, what, and by means of what. */
export function auditTable(out: Reporter, entries: readonly ShownEntry[]): void {
  out.table(
    ['WHEN', 'WHO', 'WHAT', 'TO WHAT', 'BY MEANS OF'],
    entries.map((entry) => [
      formatTime(entry.at),
      printable(entry.user?.name ?? `the ${entry.by}`),
      inWords(entry.action),
      printable(entry.guestKeys[entry.target.id] ?? entry.target.name ?? entry.target.id),
      printable(entry.via?.name ?? entry.via?.id ?? ''),
    ]),
    'There is nothing to tell.',
  );
}

/** Returns the phrase for an action, or the name of an action that this release does not know. */
function inWords(action: string): string {
  const phrase = (auditActions as Readonly<Record<string, { readonly phrase: string }>>)[action]?.phrase;
  return phrase ?? printable(action);
}
