import manifest from '../package.json' with { type: 'json' };

/** This package's version, which all of Tenon's packages share. */
export const { version } = manifest;
