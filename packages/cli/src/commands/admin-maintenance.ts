import {
  type AuditPosition,
  type CollectResult,
  collect,
  type Deps,
  describeStore,
  type VerifyOptions,
  type VerifyResult,
  verify,
  verifyAttestations,
  verifyAuditChain,
} from '@tenon/server';
import { formatHead, parseHead } from '../audit-options.ts';
import type { Command } from '../command.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';
import { count, formatSize, printable } from '../text.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';
import { addTrustClockCommand } from './admin-trust-clock.ts';

/** Adds what keeps a data folder in order: `verify`, `gc`, `trust-clock`. */
export function addMaintenanceCommands(group: Command, io: Io): void {
  group
    .command('verify')
    .description(
      'read all data, hash every plugin, check every reference, and verify the hash chain over the audit trail',
    )
    .option(
      '--audit-head <head>',
      'a head that "tenon admin audit-head" wrote earlier; the chain must contain it',
      parseHead,
    )
    .use(withStore)
    .examples(
      'tenon admin verify',
      'tenon admin verify --store /var/backups/tenon/monday',
      'tenon admin verify --json | jq .faults',
      'tenon admin verify --audit-head "$(cat /mnt/elsewhere/audit-head)"',
    )
    .addHelpText(
      'after',
      `The exit code is 1 if something is wrong, and 8 if the only fault is that the database does not know some files: it has lost
commits, or was replaced by an older copy. An attacker who can write to the database can also compute a new hash chain: only
--audit-head detects that.`,
    )
    .action((options: AdminOptions & { auditHead?: AuditPosition }) =>
      withPresentData(io, options, (deps, out, config) =>
        runVerify(io, deps, out, { store: describeStore(config), expected: options.auditHead }),
      ),
    );

  group
    .command('gc')
    .description('delete contents that no version refers to, as the running server does')
    .option('--dry-run', 'delete nothing; show what would be deleted')
    .option('--force', 'also delete more than half of all contents, and files that the database does not know')
    .option(
      '--grace <duration>',
      'time between the first run that finds a content and its deletion (default: gc-grace of TENON_TIMES, else 1d)',
    )
    .use(withStore)
    .examples('tenon admin gc --dry-run', 'tenon admin gc --grace 60s')
    .action((options: AdminOptions & { dryRun?: boolean; force?: boolean }) =>
      withPresentData(io, options, (deps, out, config) =>
        runCollect(io, deps, out, {
          store: describeStore(config),
          graceMs: config.collectGraceMs,
          isDryRun: options.dryRun === true,
          isForced: options.force === true,
        }),
      ),
    );

  addTrustClockCommand(group, io);
}

interface VerifyRequest {
  /** The store in words. */
  readonly store: string;
  readonly expected: AuditPosition | undefined;
}

async function runVerify(io: Io, deps: Deps, out: Reporter, { store, expected }: VerifyRequest): Promise<void> {
  const found = await withProgress(io, out, 'Verifying', (progress) =>
    io.interruptible(async (signal) => {
      const data = await verify(deps, { onProgress: progress, signal });
      const audit = await verifyAuditChain(deps, { expected, signal });
      const { attestations, faults } = await verifyAttestations(deps, signal);
      return {
        ...data,
        attestations,
        faults: [...data.faults, ...audit.faults, ...faults],
        auditLinks: audit.links,
        auditHead: audit.head,
      };
    }),
  );
  const [faults, unknown] = [found.faults.length, found.unknownObjects.length];
  out.result({ store, isWhole: faults + unknown === 0, ...found }, () => showVerified(out, found));
  if (faults + unknown === 0) return;
  if (faults === 0) {
    throw new CliError('lost_commits', `The database does not know ${count(unknown, 'file')}: it has lost commits.`, {
      exitCode: exitCodes.lostCommits,
      hint: `Is it the right database, and its newest copy? The files are kept until "tenon admin gc --force".`,
    });
  }
  throw new CliError('damaged_data', `Not all is as it must be: ${count(found.faults.length, 'fault')}.`, {
    hint: 'Publishing the same bytes again heals a content that is damaged or missing. A backup has the rest.',
  });
}

interface VerifiedStore extends VerifyResult {
  readonly auditLinks: number;
  readonly auditHead: AuditPosition;
  readonly attestations: number;
}

function showVerified(out: Reporter, found: VerifiedStore): void {
  const { blobs, blobBytes, referencedContents, versions, attestations, faults, unknownObjects } = found;
  const { auditLinks, auditHead } = found;
  for (const { subject, detail } of faults) {
    out.write(`${out.style.error('fault')}  ${printable(subject)}: ${printable(detail)}\n`);
  }
  for (const { subject, detail } of unknownObjects) {
    out.write(`${out.style.error('unknown')}  ${printable(subject)}: ${printable(detail)}\n`);
  }
  const none = { text: 'none', style: out.style.good };
  out.fields([
    ['plugin contents', `${count(blobs, 'file')}, ${formatSize(blobBytes)}`],
    ['versions', `${count(versions, 'version')} of ${count(referencedContents, 'content')}`],
    ['audit trail', count(auditLinks, 'event')],
    ['audit head', formatHead(auditHead)],
    ['attestations', count(attestations, 'publish attestation')],
    ['unknown files', unknownObjects.length === 0 ? none : String(unknownObjects.length)],
    ['faults', faults.length === 0 ? none : String(faults.length)],
  ]);
}

interface CollectRequest {
  /** The store in words. */
  readonly store: string;
  readonly graceMs: number;
  readonly isDryRun: boolean;
  readonly isForced: boolean;
}

async function runCollect(io: Io, deps: Deps, out: Reporter, request: CollectRequest): Promise<void> {
  const { store, isDryRun, ...options } = request;
  const collected = await io.interruptible((signal) => collect(deps, { ...options, isDryRun, signal }));
  if (collected === undefined) {
    throw new CliError('in_use', 'Another process is collecting at this moment.', {
      exitCode: exitCodes.unavailable,
      hint: 'It may be the server. Try again in a while.',
    });
  }
  out.result({ store, isDryRun, ...collected }, () => showCollected(out, collected, request));
}

function showCollected(out: Reporter, collected: CollectResult, { isDryRun }: CollectRequest): void {
  const { deleted, deletedBytes, waiting, waitingBytes, postponed, unknown, unfinished, isHeldByCopy } = collected;
  const many = (contents: number, bytes: number) => `${count(contents, 'content')}, ${formatSize(bytes)}`;
  out.fields([
    [isDryRun ? 'would delete' : 'deleted', many(deleted, deletedBytes)],
    ['unused, in grace', many(waiting, waitingBytes)],
  ]);
  if (postponed > 0) {
    out.note(`${count(postponed, 'unused content')} kept: they are more than half of all. --force deletes them.`);
  }
  if (unknown > 0) {
    out.note(
      `${count(unknown, 'file')} kept that the database does not know: see "tenon admin verify". --force deletes them.`,
    );
  }
  if (unfinished > 0) out.note(`${count(unfinished, 'unfinished file')} of crashes removed.`);
  if (isHeldByCopy) out.note('The store is being copied: nothing more is deleted until that is done.');
}

/** Shows a bar while the work is done, from when it knows how much there is. */
async function withProgress<T>(
  io: Io,
  out: Reporter,
  label: string,
  work: (progress: NonNullable<VerifyOptions['onProgress']>) => Promise<T>,
): Promise<T> {
  let bar: Progress | undefined;
  try {
    return await work({
      total(bytes) {
        bar = createProgress(io, !out.isJson, label, bytes);
      },
      advance: (bytes) => bar?.advance(bytes),
    });
  } finally {
    bar?.end();
  }
}
