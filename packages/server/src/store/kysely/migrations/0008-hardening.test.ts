import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { Kysely } from 'kysely';
import { columnTypes } from '../../sqlite/column-types.ts';
import { writingDialect } from '../../sqlite/dialect.ts';
import { createDatabaseFile, openWriter } from '../../sqlite/files.ts';
import { openSqliteStore } from '../../sqlite/store.ts';
import { migrate } from '../migrate.ts';
import { migrations } from './all.ts';

const dayMs = 24 * 60 * 60 * 1000;

describe('migration hardening', () => {
  it('ends API keys, and tokens that do more than read, 90 days later, and leaves tokens that end sooner or only read', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-migration-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'tenon.db');
    await createDatabaseFile(file);
    const database = await openWriter(file, 1000);
    const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    const before = migrations.slice(
      0,
      migrations.findIndex((migration) => migration.name === 'hardening'),
    );
    await migrate(
      (work) => db.transaction().execute(work),
      before,
      columnTypes,
      () => 1,
    );
    const [user, session, key] = [newId('user'), newId('session'), newId('apiKey')];
    const nowMs = Date.now();
    const [soonMs, lateMs] = [nowMs + 5 * dayMs, nowMs + 3650 * dayMs];
    database.prepare("insert into users (id, name, created_at_ms) values (?, 'Ada', 1)").run(user);
    database
      .prepare(
        "insert into sessions (id, user_id, secret_hash, address, created_at_ms, expires_at_ms, last_used_at_ms, confirmed_at_ms) values (?, ?, 'h', '', 1, ?, 1, 1)",
      )
      .run(session, user, lateMs);
    database
      .prepare("insert into api_keys (id, user_id, name, secret_hash, created_at_ms) values (?, ?, 'k', 'h', 1)")
      .run(key, user);
    const tokens = [
      ['read', null, lateMs],
      ['read publish', null, soonMs],
      ['read manage', session, lateMs],
      ['publish', null, lateMs],
      ['read publish manage', null, lateMs],
    ] as const;
    const ids = tokens.map(([scopes, sessionId, expiresAtMs], index) => {
      const id = newId('token');
      database
        .prepare(
          "insert into tokens (id, user_id, name, secret_hash, scopes, session_id, created_at_ms, expires_at_ms) values (?, ?, 't', ?, ?, ?, 1, ?)",
        )
        .run(id, user, `h${index}`, scopes, sessionId, expiresAtMs);
      return id;
    });
    database.close();

    const store = await openSqliteStore({ file });
    const ends = await Promise.all(ids.map(async (id) => (await store.read.token(id))?.expiresAtMs));
    ends.push((await store.read.apiKey(key))?.expiresAtMs);
    await store.close();
    const isIn90Days = (endMs = 0) => endMs >= nowMs + 90 * dayMs && endMs <= Date.now() + 90 * dayMs;
    assert.deepEqual(ends.slice(0, 3), [lateMs, soonMs, lateMs]);
    assert.deepEqual(ends.slice(3).map(isIn90Days), [true, true, true]);
  });
});
