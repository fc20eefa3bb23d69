import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandsOf } from './copy-buttons.ts';
import { find, type Section } from './find.ts';

const section = (path: string, page: string, title: string, text: string): Section => ({ path, page, title, text });
const sections = [
  section('how-to/deploy', 'Deploy', '', 'A server in a container.'),
  section('how-to/deploy#docker', 'Deploy', 'Docker', 'Run the image. The log names each quota.'),
  section(
    'reference/limits',
    'Quotas',
    '',
    `${'Words before it. '.repeat(20)}A quota limits what one account uses. ${'And words after it. '.repeat(20)}`,
  ),
  section('decisions/0033', 'Share scarce resources', 'Quotas', 'A quota'),
];
const paths = (query: string) => find(sections, query).map((hit) => hit.section.path);

describe('find()', () => {
  it('finds sections with all words, the best first, in any case', () => {
    assert.deepEqual(paths('QUOTA'), ['reference/limits', 'decisions/0033', 'how-to/deploy#docker']);
    assert.deepEqual(paths('deploy'), ['how-to/deploy', 'how-to/deploy#docker']);
    assert.deepEqual(paths('deploy image'), ['how-to/deploy#docker']);
    assert.deepEqual(paths('deploy nothing'), []);
    assert.deepEqual(paths('  '), []);
    assert.deepEqual(paths('(.*'), []);
  });

  it('returns short text around the first word', () => {
    const [first] = find(sections, 'limits');
    assert.match(first?.excerpt ?? '', /^… .*quota limits what.* …$/);
    assert.ok((first?.excerpt.length ?? 0) < 200);
    assert.equal(find(sections, 'container')[0]?.excerpt, 'A server in a container.');
  });

  it('returns at most 20 of many', () => {
    const many = Array.from({ length: 500 }, (_, at) => section(`p#${at}`, 'Page', `Title ${at}`, 'word'));
    assert.equal(find(many, 'word').length, 20);
  });
});

describe('commandsOf()', () => {
  it('drops prompts and output, and keeps continuation lines', () => {
    assert.equal(
      commandsOf('$ tenon login \\\n    --device\nLogged in\n$ tenon whoami\n'),
      'tenon login \\\n    --device\ntenon whoami',
    );
    assert.equal(commandsOf('const a = 1;\n\nconst b = "$ ";\n'), 'const a = 1;\n\nconst b = "$ ";');
  });
});
