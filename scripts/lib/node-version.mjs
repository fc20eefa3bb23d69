// Which Node.js the workspace needs. Plain enough for the older ones that set-up may be run with.
import process from 'node:process';

/** The first Node.js with Argon2, in which passwords are hashed. `packages/cli/bin/tenon.mjs` looks for the same. */
export const oldestNode = '24.7';

/** Whether the Node.js that runs this is older than that. */
export function isNodeTooOld(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
