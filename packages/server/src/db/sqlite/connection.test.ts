import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { CompiledQuery } from 'kysely';
import { createConnection, createStatementCache } from './connection.ts';

describe('createStatementCache()', () => {
  it('prepares a statement once, and evicts the least recently used', () => {
    const prepare = createStatementCache(new DatabaseSync(':memory:'), 2);
    const [one, two] = [prepare('select 1'), prepare('select 2')];
    assert.equal(prepare('select 1'), one);
    prepare('select 3'); // takes the place of the second
    assert.equal(prepare('select 1'), one);
    assert.notEqual(prepare('select 2'), two);
  });

  it('continues to use a statement after another connection changes the schema', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('create table t (a)');
    const { statement } = createStatementCache(database)('select * from t');
    assert.deepEqual(statement.all(), []);
    database.exec("alter table t add column b default 'x'; insert into t (a) values (1)");
    assert.deepEqual({ ...statement.get() }, { a: 1, b: 'x' });
  });
});

describe('createConnection()', () => {
  const database = new DatabaseSync(':memory:');
  const connection = createConnection(database, 0);
  const run = (sql: string, ...parameters: unknown[]) => connection.executeQuery(CompiledQuery.raw(sql, parameters));

  it('returns rows as plain objects, and the number of changed rows', async () => {
    await run('create table t (id text, n integer)');
    assert.equal((await run('insert into t values (?, ?), (?, ?)', 'a', 1, 'b', 2)).numAffectedRows, 2n);
    assert.equal((await run('update t set n = n + 1')).numAffectedRows, 2n);
    assert.equal((await run('update t set n = 0 where id = ?', 'c')).numAffectedRows, 0n);
    assert.deepEqual((await run('select * from t')).rows, [
      { id: 'a', n: 2 },
      { id: 'b', n: 3 },
    ]);
    assert.deepEqual((await run('delete from t where id = ? returning n', 'a')).rows, [{ n: 2 }]);
  });

  it('yields to the event loop between long statements', async () => {
    const slow = new DatabaseSync(':memory:');
    const order: string[] = [];
    slow.function('work', (ms) => {
      for (const endsAt = performance.now() + Number(ms); performance.now() < endsAt; );
      order.push('statement');
      return 0;
    });
    const turns = createConnection(slow, 0);
    let isDone = false;
    const others = (): void => {
      order.push('others');
      if (!isDone) setImmediate(others);
    };
    setImmediate(others);
    for (let at = 0; at < 6; at++) await turns.executeQuery(CompiledQuery.raw('select work(15)'));
    isDone = true;
    assert.deepEqual(
      order.filter((what, at) => what === 'statement' && order[at + 1] === 'statement'),
      [],
      order.join(),
    );
    assert.equal(order.filter((what) => what === 'statement').length, 6);
  });
});
