/** A fault that can be planted into nodes: one text of one of the server's files for another. */
export interface Plant {
  /** What is wrong then. */
  readonly what: string;
  /** Below `packages/server/src`. */
  readonly file: string;
  /** Stands there once. */
  readonly from: string;
  readonly to: string;
  /** Where it can be told from what is right, if not everywhere. */
  readonly on?: 'several' | 'embedded';
}

/** What a storm is to find. */
export const plants: Readonly<Record<string, Plant>> = {
  'trusted-too-long': {
    what: 'what is known is trusted for 9 seconds after commits were last heard of, and not for 0.8',
    file: 'store/postgres/revision.ts',
    from: 'const trustedMs = 800;',
    to: 'const trustedMs = 9000;',
    on: 'several',
  },
  'note-dropped': {
    what: 'every tenth commit is not heard of by another node',
    file: 'store/postgres/revision.ts',
    from: 'if (from !== pings) {',
    to: 'if (from !== pings) { if (Math.random() < 0.1) return;',
    on: 'several',
  },
  'commits-missed': {
    what: 'every tenth time that another process has committed, it is taken for having touched nothing',
    file: 'store/sqlite/commits.ts',
    from: 'told = version;\n      for',
    to: 'told = version; if (Math.random() < 0.1) return version;\n      for',
    on: 'embedded',
  },
  'not-durable': {
    what: 'a commit is acknowledged before it is on the disk',
    file: 'store/postgres/dialect.ts',
    from: '`start transaction',
    to: '`set synchronous_commit = off; start transaction',
    on: 'several',
  },
  'put-swallowed': {
    what: 'every tenth plugin is not put into the object store',
    file: 'blobs/s3/s3-blob-store.ts',
    from: 'await write(name, bytes, { checksum: Buffer',
    to: 'if (Math.random() > 0.1) await write(name, bytes, { checksum: Buffer',
    on: 'several',
  },
  'made-twice': {
    what: 'who publishes the same again, having heard nothing, makes another version',
    file: 'domain/publish.ts',
    from: 'present?.newest.contentAddress === contentAddress &&',
    to: 'Math.random() > 1 &&',
  },
  'revoked-late': {
    what: 'a token is served for 3 seconds after it was revoked',
    file: 'domain/memories/memories.ts',
    from: 'if (entry.heldAt !== moment) {',
    to: `if (entry.heldAt !== moment && this.#kind.name === 'tokens' && !isUntouched(entry.subjects, entry.heldAt)) {
      if ((entry.untilMs ??= performance.now() + 3000) > performance.now()) return entry.value;
    }
    if (entry.heldAt !== moment) {`,
  },
  'member-untold': {
    what: 'that a member was removed touches nothing',
    file: 'domain/memories/touched.ts',
    from: 'deleteMember: (appId, userId) => [standingSubject(userId, appId), readingSubject(userId)],',
    to: 'deleteMember: () => [],',
  },
  'bytes-unhashed': {
    what: 'what the object store gives is taken for what it was asked for',
    file: 'blobs/s3/read.ts',
    from: 'if (digest !== undefined && digest !== address) {',
    to: 'if (Math.random() > 1) {',
    on: 'several',
  },
  'wrong-status': {
    what: 'a store that is away is answered with 500, and not with 503',
    file: 'store/postgres/errors.ts',
    from: 'if (!isUnavailable) return error;',
    to: 'return error;',
    on: 'several',
  },
};
