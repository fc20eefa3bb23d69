// Lints the description of the interface as the server makes it, without the network.
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { root } from './lib/workspace.mjs';

// Loaded only now: it is TypeScript, which an older Node.js can't read.
const { buildOpenApi } = await import('@tenon/server');

const folder = mkdtempSync(join(tmpdir(), 'tenon-openapi-'));
try {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(buildOpenApi(), null, 2)); // on lines of its own, faults can be found
  const redocly = join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
  const { status } = spawnSync(process.execPath, [redocly, 'lint', file, '--config', join(root, 'redocly.yaml')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      CI: 'true',
      NO_COLOR: '1',
    },
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
