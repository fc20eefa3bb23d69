import { isId } from '@tenon/protocol';
import { type QuotaName, type Quotas, quotas } from '../domain/quotas.ts';
import { byteSize, positiveInteger, type Reader } from './readers.ts';

/** Quotas as the configuration has them: `name=value` or `id:name=value`, separated by commas. */
export const quotaList: Reader<Quotas> = (text) => {
  const all: Partial<Record<QuotaName, number>> = {};
  const byId: Record<string, Partial<Record<QuotaName, number>>> = {};
  for (const part of text.split(',').map((part) => part.trim())) {
    if (part === '') continue;
    const [, id, name = '', value = ''] = /^(?:([^:=]*):)?([^:=]*)=(.*)$/.exec(part) ?? [];
    if (!isQuota(name))
      throw new Error(`must hold quotas such as applications=100, not ${JSON.stringify(part)}; quotas: ${names}`);
    const { of } = quotas[name];
    const kind = of === 'account' ? 'user' : 'app';
    if (id !== undefined && !isId(kind, id)) {
      throw new Error(`has ${JSON.stringify(id)} before "${name}", which is a quota of an ${of}: its id is needed`);
    }
    const number = 'isBytes' in quotas[name] ? byteSize(value.trim()) : positiveInteger(value.trim());
    if (id === undefined) all[name] = number;
    else byId[id] = { ...byId[id], [name]: number };
  }
  return { all, byId };
};

const names = Object.keys(quotas).join(', ');

function isQuota(name: string): name is QuotaName {
  return Object.hasOwn(quotas, name);
}
