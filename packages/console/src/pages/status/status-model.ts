import type { MirrorState, RequestKind, RequestLoad, ServerStatus } from '@tenon/protocol';

/** A problem that an operator should check. */
export interface Concern {
  readonly kind: 'bad' | 'check';
  readonly text: string;
}

export const kinds: readonly RequestKind[] = ['lists', 'contents', 'publishes', 'instrument', 'others'];

/** How a mirror follows its source, for people. */
export const mirrorStates: Readonly<Record<MirrorState, string>> = {
  synchronizing: 'compares all lists',
  following: 'applies changes as they come',
  incomplete: 'lists differ',
  unreachable: 'the source does not respond',
  refused: 'the source does not accept the token',
};

/** Requests of a kind per second. */
export function perSecond({ requests }: RequestLoad, seconds: number): number {
  return seconds === 0 ? 0 : requests / seconds;
}

/** The problems that an operator should check, worst first. */
export function concernsOf({ readAt, metadata, blobs, mail, mirror, process, nodes }: ServerStatus): Concern[] {
  const failures: Concern[] = [];
  const warnings: Concern[] = [];
  const bad = (text: string) => void failures.push({ kind: 'bad', text });
  const warn = (text: string) => void warnings.push({ kind: 'check', text });
  if (!metadata.isReachable) bad('The metadata store is not responding.');
  if (!blobs.isReachable) bad('The blob store is not responding.');
  const reasons = process.reasons.join('; ');
  if (process.state === 'not_ready') bad(`This process is not ready: ${reasons}.`);
  else if (reasons !== '') warn(`This process: ${reasons}.`);
  for (const { isLost, node, pid } of nodes) {
    if (isLost) bad(`Process ${pid} on ${node} has sent no heartbeat for a minute or more.`);
  }
  if (!metadata.knowsCommits) warn('Changes of other processes are not arriving, so nothing is served from the cache.');
  if (mail?.oldestQueuedAt != null && Date.parse(readAt) - Date.parse(mail.oldestQueuedAt) > 10 * 60_000) {
    warn(`${mail.queued} mails wait to be sent, the oldest for more than 10 minutes.`);
  }
  if (mirror !== null && mirror.state !== 'following' && mirror.state !== 'synchronizing') {
    const detail = mirror.detail === null ? '' : ` (${mirror.detail})`;
    warn(`The mirror serves what it has: ${mirrorStates[mirror.state]}${detail}.`);
  }
  if (new Set(nodes.filter(({ isLost }) => !isLost).map(({ version }) => version)).size > 1) {
    warn('Nodes run different versions.');
  }
  return [...failures, ...warnings];
}

/** Formats a rate: `0`, `0.3`, `12`, `4,810`. */
export function rate(perSecond: number): string {
  const digits = perSecond > 0 && perSecond < 10 ? 1 : 0;
  return perSecond.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Formats a duration: `0.5 ms`, `250 ms`, `2.5 s`; a dash for `null`. */
export function duration(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${Number(ms.toPrecision(3))}\u00a0ms` : `${Number((ms / 1000).toPrecision(3))}\u00a0s`;
}
