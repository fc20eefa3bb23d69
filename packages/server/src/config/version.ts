import manifest from '../../package.json' with { type: 'json' };

/** The version that all of Tenon's packages share. */
export const { version } = manifest;
