// Asks the registry for known vulnerabilities of what is installed, and fails on those of severity high or critical that have a fixed
// version, except what `scripts/audit-exceptions.json` allows until a date. Says "not checked" where the registry cannot answer.
//
//   npm run audit
import './lib/require-node.mjs';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { auditFindings, expiredExceptions } from './lib/audit-findings.mjs';
import { root } from './lib/workspace.mjs';

const today = new Date().toISOString().slice(0, 10);
const exceptions = JSON.parse(readFileSync(join(root, 'scripts', 'audit-exceptions.json'), 'utf8'));

for (const { id, until } of expiredExceptions(exceptions, today)) {
  console.log(`✖ the exception for ${id} in scripts/audit-exceptions.json ended on ${until}: update or remove it`);
  process.exitCode = 1;
}
for (const folder of ['.', 'test/proof', 'packages/instrument/corpus']) {
  const report = await npmAudit(join(root, folder));
  if (report.error !== undefined) {
    console.log(`- ${folder}: not checked: ${report.error}`);
    continue;
  }
  const { failing, allowed, others } = auditFindings(report, exceptions, today);
  console.log(
    `${failing.length === 0 ? '✔' : '✖'} ${folder}: ${failing.length} to fix, ${allowed.length} with an exception, ` +
      `${others} of lower severity or without a fixed version`,
  );
  for (const { id, name, severity, range, title } of failing) {
    console.log(`    ${id} ${severity}: ${name} ${range}: ${title}`);
    process.exitCode = 1;
  }
}

/**
 * @param {string} cwd
 * @returns {Promise<import('./lib/audit-findings.mjs').AuditReport & { error?: string }>}
 */
function npmAudit(cwd) {
  const npmScript = process.env.npm_execpath;
  const args = ['audit', '--json', '--package-lock-only', '--audit', '--loglevel=silent'];
  const child = npmScript?.endsWith('.js')
    ? spawn(process.execPath, [npmScript, ...args], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    : spawn('npm', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], shell: process.platform === 'win32' });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ error: `npm could not be started: ${error.message}` }));
    child.on('close', () => {
      try {
        const report = JSON.parse(output);
        // An answer without `vulnerabilities` is npm's own error: no such endpoint, or no network.
        if (report.vulnerabilities !== undefined) resolve(report);
        else resolve({ error: report.error?.summary || report.message || 'the registry did not answer' });
      } catch {
        resolve({ error: 'npm audit printed no report' });
      }
    });
  });
}
