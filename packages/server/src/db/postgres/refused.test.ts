import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import pg from 'pg';
import { noPostgres, type SharedPostgres, sharedPostgres } from '../../../test/helpers/postgres.ts';
import { statements } from '../../queries.ts';
import { RefusedError } from '../store.ts';
import { translateError } from './errors.ts';
import { openPostgresStore } from './store.ts';

describe('openPostgresStore() on an unusable database', { skip: noPostgres }, () => {
  let postgres: SharedPostgres;
  before(async () => {
    postgres = await sharedPostgres();
  });

  const administer = async (url: string, sql: string): Promise<void> => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const refuses = (url: string, words: RegExp) =>
    assert.rejects(openPostgresStore(statements, { url }), (error) => {
      assert.ok(error instanceof RefusedError, String(error));
      assert.match(error.message, words);
      return true;
    });

  it('reports a missing database or user, and missing privileges', async () => {
    await refuses(postgres.url('nowhere'), /"nowhere" does not exist/);
    const { url } = await postgres.createDatabase();
    const as = (user: string) => url.replace('tenon@', `${user}@`);
    await refuses(as('nobody'), /"nobody" does not exist/);
    await administer(url, 'create role reader login');
    await refuses(as('reader'), /permission denied/);
  });

  it('does not change a database with another encoding, or with foreign tables', async () => {
    await administer(postgres.url('postgres'), "create database latin encoding 'LATIN1' locale 'C' template template0");
    await refuses(postgres.url('latin'), /LATIN1, and must be UTF8/);
    const { url } = await postgres.createDatabase();
    await administer(url, 'create table users (name text)');
    await refuses(url, /"users" already exists/);
  });

  it('rejects an untrusted certificate, a missing password, and a socket without permission alike', () => {
    const untrusted = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const missing = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
    const socket = Object.assign(new Error('connect EACCES /run/.s.PGSQL.5432'), {
      code: 'EACCES',
      syscall: 'connect',
    });
    for (const error of [untrusted, missing, socket]) assert.ok(translateError(error) instanceof RefusedError);
  });
});
