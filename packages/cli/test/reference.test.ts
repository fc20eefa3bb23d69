import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../src/program.ts';
import { run } from '../src/run.ts';
import { presentReference, referenceFile } from './helpers/reference.ts';
import { createIo } from './helpers/streams.ts';

describe('docs/reference/cli.md', () => {
  it("is what the program's help says; `node scripts/write-cli-reference.mjs` makes it so", async () => {
    assert.equal(await readFile(referenceFile, 'utf8'), await presentReference());
  });
});

describe('createProgram()', () => {
  it('gives every command that does something a description, --json and examples', async () => {
    const text = await presentReference();
    const { io } = createIo();
    const program = await createProgram(io);
    const visit = (command: Command, path: string): void => {
      for (const child of command.commands) {
        const childPath = `${path} ${child.name()}`;
        assert.ok(child.description(), `${childPath} is described`);
        if (child.commands.length > 0) visit(child, childPath);
        else if (child.name() !== 'help') {
          assert.ok(
            child.options.some((option) => option.long === '--json'),
            `${childPath} takes --json`,
          );
          const [, help = ''] = text.split(`## ${childPath}\n`);
          const [own = ''] = help.split('\n## ');
          assert.match(own, /Examples:\n {2}\$ /, `${childPath} has examples`);
        }
      }
    };
    visit(program, 'tenon');
  });

  it('shows required options in the usage line, aliases, and topics', async () => {
    const helpOf = async (...args: string[]) => {
      const { io, stdout } = createIo();
      assert.equal(await run(args, io), 0);
      return stdout.text;
    };
    assert.match(
      await helpOf('plugin', 'yank', '--help'),
      /^Usage: tenon plugin yank \[options\] --reason <text> <plugin@version>$/m,
    );
    assert.match(await helpOf('--help'), /^ {2}extension-point\|ext /m);
    assert.match(await helpOf('help', 'exit-codes'), /^ {2}130 +interrupted/m);
    assert.match(await helpOf('help', 'environment'), /^ {2}TENON_URL /m);
  });

  it('lists the same commands whether it has loaded them or not', async () => {
    const { io } = createIo();
    const [whole, none] = [await createProgram(io), await createProgram(io, [])];
    assert.deepEqual(
      none.commands.map((command) => [command.name(), command.alias(), command.summary()]),
      whole.commands.map((command) => [command.name(), command.alias(), command.summary()]),
    );
  });
});
