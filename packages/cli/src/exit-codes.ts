/** What the process ends with. Scripts rely on these: they are added to, never changed. */
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
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each exit code means, as `tenon help exit-codes` and the reference show it. */
export const exitCodeMeanings: readonly (readonly [ExitCode, string])[] = [
  [exitCodes.success, 'it is done'],
  [exitCodes.failure, 'it failed for a reason that no other code names (a file cannot be read, an answer is damaged)'],
  [exitCodes.usage, 'the command line is wrong, or lacks something that it needs'],
  [exitCodes.denied, 'credentials are missing, not valid, or not enough (401, 403)'],
  [exitCodes.notFound, 'the server has no such thing, or does not show it to you (404)'],
  [
    exitCodes.conflict,
    'the present state does not allow it: a name is taken, an invitation is used up (409, 410, 412)',
  ],
  [exitCodes.unavailable, 'the server is not there, too slow, too busy or broken: trying again may help (429, 5xx)'],
  [exitCodes.refused, 'what was sent or read is not acceptable: no valid module, a bad field (other 4xx)'],
  [exitCodes.lostCommits, 'the data is whole, but the database has lost commits: it does not know some files'],
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
