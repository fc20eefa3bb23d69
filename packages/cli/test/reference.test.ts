import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../src/program.ts';
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
        else if (!['help', 'exit-codes', 'environment'].includes(child.name())) {
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

  it('lists the same commands whether it has loaded them or not', async () => {
    const { io } = createIo();
    const [whole, none] = [await createProgram(io), await createProgram(io, [])];
    assert.deepEqual(
      none.commands.map((command) => [command.name(), command.alias(), command.summary()]),
      whole.commands.map((command) => [command.name(), command.alias(), command.summary()]),
    );
  });
});
