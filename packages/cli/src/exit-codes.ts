/** The exit codes. Scripts rely on them: new ones may be added, and none changes. */
export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  denied: 3,
  notFound: 4,
  conflict: 5,
  unavailable: 6,
  refused: 7,
  lostCommits: 8,
  timedOut: 9,
  errored: 10,
  noTests: 11,
  provenanceFailed: 12,
  provenanceAbsent: 13,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meaning of each exit code, for `tenon help exit-codes` and the reference. */
export const exitCodeMeanings: readonly (readonly [ExitCode, string])[] = [
  [exitCodes.success, 'success'],
  [exitCodes.failure, 'it failed for a reason that has no code here: an unreadable file, a simulation that failed'],
  [exitCodes.usage, 'the command line is invalid or incomplete'],
  [exitCodes.denied, 'credentials are missing, invalid, or insufficient (401, 403)'],
  [exitCodes.notFound, 'it does not exist, or you have no access (404)'],
  [exitCodes.conflict, 'the current state does not allow it, such as a name that is taken (409, 410, 412)'],
  [exitCodes.unavailable, 'the server is unreachable, slow, busy, or failing; try again later (408, 429, 5xx)'],
  [exitCodes.refused, 'the input is invalid: a module, a field (other 4xx)'],
  [
    exitCodes.lostCommits,
    'all known data is intact, but there are files that the database does not know: it has probably lost commits',
  ],
  [exitCodes.timedOut, 'a simulation exceeded its time limit'],
  [exitCodes.errored, 'a simulation could not be run; its plugin is neither passed nor failed'],
  [exitCodes.noTests, 'there is no simulation to run'],
  [exitCodes.provenanceFailed, 'an attestation of a plugin is invalid'],
  [exitCodes.provenanceAbsent, 'a plugin has no attestation'],
  [exitCodes.interrupted, 'interrupted (Ctrl-C)'],
  [exitCodes.terminated, 'ended by SIGTERM'],
];

/** The exit code for an HTTP status. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status >= 500 || status === 408 || status === 429) return exitCodes.unavailable;
  if (status === 401 || status === 403) return exitCodes.denied;
  if (status === 404) return exitCodes.notFound;
  if (status === 409 || status === 410 || status === 412) return exitCodes.conflict;
  return status >= 400 ? exitCodes.refused : exitCodes.failure;
}
