import { type InvitationResult, type InvitationRow, invitationResults } from '@tenon/protocol';
import { CsvError } from '@tenon/protocol/csv';
import {
  type CsvInvitation,
  invitationChunks,
  readInvitationCsv,
  resultCsvHeader,
  resultCsvLine,
} from '@tenon/protocol/invitation-csv';
import { path } from '../api.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput } from '../files.ts';
import { writeBytes } from '../output.ts';
import type { Session } from '../session.ts';
import { sleep } from '../sleep.ts';
import { count, printable } from '../text.ts';

/** The waits before a request is repeated whose response did not arrive, in milliseconds. */
const retryWaitsMs = [1000, 2000, 4000];

const maxShownFaults = 20;

interface CsvOptions {
  /** Whether people with a pending invitation get another link. */
  readonly renews: boolean;
  readonly deliveryMethod: 'link' | 'email' | undefined;
}

/**
 * Invites the guests of a CSV file. Writes a line of CSV per result, as the results arrive, so that links are not lost when it ends early;
 * with `--json`, all results at the end.
 */
export async function inviteFromCsv(session: Session, app: string, file: string, options: CsvOptions): Promise<void> {
  const { io, out } = session;
  const { invitations, ignored } = await readRows(session, file);
  if (ignored.length > 0) out.warn(`Ignored columns: ${printable(ignored.join(', '))}.`);
  const results: (InvitationRow & InvitationResult)[] = [];
  const write = (text: string) => (out.isJson ? undefined : writeBytes(io.stdout, Buffer.from(text)));
  await write(resultCsvHeader);
  try {
    for (const chunk of invitationChunks(invitations)) {
      const rows = chunk.map(({ row }) => row);
      const objects = await sendChunk(session, app, rows, options);
      const lines = rows.flatMap((row, at): string[] => {
        const result = objects[at];
        if (result === undefined) return [];
        results.push({ ...row, ...result });
        return [resultCsvLine(row, result)];
      });
      await write(lines.join(''));
      if (results.length < invitations.length) out.note(`${results.length} of ${count(invitations.length, 'row')} …`);
    }
  } catch (error) {
    out.note(
      `${results.length} of ${count(invitations.length, 'row')} done. Run the same command again for the rest: invitations that exist are kept.`,
    );
    throw error;
  } finally {
    out.result(results, () => {});
  }
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  out.note(summary(results));
  if (failed.length > 0) {
    const message = `${count(failed.length, 'row')} failed: ${failed[0]?.error?.detail}`;
    throw new CliError(failed[0]?.error?.code ?? 'failed', message, { exitCode: exitCodes.denied });
  }
}

/** @throws CliError that names the faults of the rows; nothing is sent then */
async function readRows({ io }: Session, file: string) {
  const bytes = await readInput(io, file, 'guests');
  const refused = (message: string, hint?: string) =>
    new CliError('invalid_csv', message, { exitCode: exitCodes.refused, hint });
  let csv: ReturnType<typeof readInvitationCsv>;
  try {
    csv = readInvitationCsv(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof CsvError) throw refused(error.message);
    throw refused('The file must be CSV in UTF-8.');
  }
  const faulty = csv.invitations.filter(({ faults }) => faults.length > 0);
  if (faulty.length > 0) {
    const lines = faulty
      .slice(0, maxShownFaults)
      .map(({ line, faults }: CsvInvitation) => `line ${line}: ${faults.join(' ')}`);
    const more = faulty.length > lines.length ? `\n… and ${faulty.length - lines.length} more` : '';
    throw refused(`${count(faulty.length, 'row')} with errors; nothing was sent.\n${lines.join('\n')}${more}`);
  }
  if (csv.invitations.length === 0) throw refused('The file has no rows.');
  return csv;
}

/** Sends rows, and repeats the request if the response does not arrive. Then rows may exist, and need other links. */
async function sendChunk(
  { api, io }: Session,
  app: string,
  invitations: readonly InvitationRow[],
  { renews, deliveryMethod }: CsvOptions,
): Promise<readonly InvitationResult[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      const body = { deliveryMethod, invitations, whenPending: renews || attempt > 0 ? 'renew' : 'keep' };
      return (await api.send('POST', path`/api/v1/apps/${app}/invitations`, body, invitationResults)).objects;
    } catch (error) {
      const waitMs = retryWaitsMs[attempt];
      const isLost = error instanceof CliError && error.exitCode === exitCodes.unavailable;
      if (!isLost || waitMs === undefined) throw error;
      await io.interruptible((signal) => sleep(waitMs, signal));
    }
  }
}

const words = {
  invited: 'invited',
  renewed: 'renewed',
  pending: 'invited already',
  accepted: 'accepted already',
  failed: 'failed',
} as const;

function summary(results: readonly InvitationResult[]): string {
  const counts = Object.entries(words).map(([outcome, text]) => {
    const number = results.filter((result) => result.outcome === outcome).length;
    return number === 0 ? '' : `${number} ${text}`;
  });
  const mailed = results.filter(({ isMailed }) => isMailed).length;
  const mails = mailed === 0 ? '' : ` ${count(mailed, 'link')} mailed.`;
  return `${count(results.length, 'row')}: ${counts.filter(Boolean).join(', ')}.${mails} The links are shown only once.`;
}
