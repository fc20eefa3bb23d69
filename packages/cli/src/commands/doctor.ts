import { type Command, withServer } from '../command.ts';
import { type Check, diagnose } from '../diagnose.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { type CommonOptions, timeoutMs } from '../session.ts';
import { count, printable } from '../text.ts';

export function addDoctorCommand(program: Command, io: Io): void {
  program
    .command('doctor')
    .description('check this installation, the server, and your login, and say what to do about each problem')
    .use(withServer)
    .examples(
      'tenon doctor',
      'tenon doctor --server https://plugins.example.org --timeout 5s',
      'tenon doctor --json | jq -r \'.checks[] | select(.result != "ok").name\'',
    )
    .addHelpText('after', `The exit code is that of the first check that fails. Warnings don't change it.`)
    .action(async (options: CommonOptions) => {
      const out = createReporter(io, options.json === true);
      const found = await io.interruptible((signal) => diagnose(io, options, timeoutMs(options), signal));
      out.result({ checks: found.map(withoutError) }, () => show(out, found));
      const failed = found.filter(({ result }) => result === 'failed');
      if (failed.length === 0) return;
      const names = failed.map(({ name }) => name).join(', ');
      throw new CliError('checks_failed', `${count(failed.length, 'check')} failed: ${names}.`, {
        exitCode: failed[0]?.error?.exitCode,
      });
    });
}

function withoutError({ name, result, detail, hint, error }: Check) {
  return { name, result, detail, hint: hint ?? null, code: error?.code ?? null };
}

function show(out: Reporter, found: readonly Check[]): void {
  const styles = { ok: out.style.good, warning: out.style.warning, failed: out.style.error };
  out.table(
    ['CHECK', 'RESULT', 'DETAIL'],
    found.map(({ name, result, detail }) => [name, styles[result](result), detail]),
    '',
  );
  for (const { name, hint } of found) {
    if (hint === undefined) continue;
    const lines = hint.split('\n').map((line) => `  ${printable(line)}\n`);
    out.write(`\n${out.style.bold(name)}\n${lines.join('')}`);
  }
}
