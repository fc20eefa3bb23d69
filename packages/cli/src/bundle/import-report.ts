import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { count } from '../text.ts';

/** A version of a bundle under one guest, after the import. */
export interface ImportedVersion {
  /** The plugin's id at this server; `null` before its extension point exists. */
  readonly plugin: string | null;
  /** Its id in the bundle. */
  readonly from: string;
  readonly contentAddress: string;
  readonly guestKey: string;
  /** `present`: the guest had the version already. `planned`: nothing was published, because of a dry run or an error. */
  readonly outcome: 'present' | 'published' | 'planned';
  /** The version here; `null` if it is only planned. */
  readonly version: { readonly number: number; readonly state: string } | null;
}

export interface ImportReport {
  readonly extensionPoints: readonly { readonly id: string | null; readonly name: string; readonly isNew: boolean }[];
  /** The guests that the user did not hold before. */
  readonly newGuestKeys: readonly string[];
  readonly versions: readonly ImportedVersion[];
}

/** An import that failed after it had published something. */
export class IncompleteImport extends Error {
  override readonly name = 'IncompleteImport';
  readonly report: ImportReport;

  constructor(report: ImportReport, cause: unknown) {
    super('The import is incomplete', { cause });
    this.report = report;
  }
}

function numberOf({ versions }: ImportReport, outcome: ImportedVersion['outcome']): number {
  return versions.filter((one) => one.outcome === outcome).length;
}

/** Says what an import did. */
export function describeImport(report: ImportReport, isDryRun: boolean): string {
  const { extensionPoints, newGuestKeys, versions } = report;
  const created = extensionPoints.filter(({ isNew }) => isNew).length;
  const changes = [
    count(numberOf(report, isDryRun ? 'planned' : 'published'), 'binding'),
    count(created, 'new extension point'),
    count(newGuestKeys.length, 'guest'),
  ].join(', ');
  const waiting = versions.filter(({ version }) => version !== null && version.state !== 'published').length;
  const note = waiting === 0 ? '' : ` Not bound yet: ${waiting}. To see why: --json`;
  const what = isDryRun ? 'Dry run: the import would make' : 'The import made';
  return `${what} ${changes}. Present already: ${numberOf(report, 'present')}.${note}`;
}

/** Returns the error of an incomplete import, with what stands. */
export function incompleteError({ report, cause }: IncompleteImport): CliError {
  const { code, message, exitCode, problem, requestId } = cause as CliError;
  const done = numberOf(report, 'published') + numberOf(report, 'present');
  const stands = `${done} of ${count(report.versions.length, 'binding')} are there.`;
  return new CliError(code, `The import is incomplete: ${message} ${stands}`, {
    ...{ exitCode, problem, requestId, cause },
    hint: 'To continue, import the bundle again. It skips what is there.',
  });
}

/** A plugin that the server would not publish. */
export interface RefusedPlugin {
  /** Its id in the bundle, with the version. */
  readonly from: string;
  readonly error: CliError;
}

/** The error of an import of which the server refuses something. */
export function refusedError(refused: readonly [RefusedPlugin, ...RefusedPlugin[]]): CliError {
  const [{ error }] = refused;
  const lines = refused.map(({ from, error }) => `  ${from}: ${error.message}`);
  const what = count(refused.length, 'version');
  return new CliError(error.code, [`The server refuses ${what}. Nothing was published.`, ...lines].join('\n'), {
    exitCode: error.exitCode,
    problem: error.problem,
    hint: 'Export the extension point again without them, or change what refuses them.',
  });
}

/** Whether the server refused a request for good. Other errors are those of the connection, or of a busy server. */
export function isRefusal(error: unknown): error is CliError {
  const codes: readonly number[] = [exitCodes.refused, exitCodes.conflict, exitCodes.denied, exitCodes.notFound];
  return error instanceof CliError && error.problem !== undefined && codes.includes(error.exitCode);
}
