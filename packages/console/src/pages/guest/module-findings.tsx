import { checkInterface, functionNames, optionalExports } from '@tenon/extension-schema/interface-check';
import type { ExtensionPoint } from '@tenon/protocol';
import { useMemo } from 'preact/hooks';
import { Notice } from '../../components/notice.tsx';
import type { ModuleCheck } from './check-module.ts';

/**
 * The findings of the server's own interface check, before upload. The server still decides, because the extension point may
 * have changed.
 */
export function ModuleFindings({
  check,
  extensionPoint: { schema, limits },
  isRefused,
}: {
  readonly check: Extract<ModuleCheck, { kind: 'module' }>;
  readonly extensionPoint: Pick<ExtensionPoint, 'schema' | 'limits'>;
  /** Whether the server has reported the same mismatches. */
  readonly isRefused: boolean;
}) {
  const { isValid, exports, imports, module, fault } = check;
  const mismatches = useMemo(
    () => (module === undefined ? [] : checkInterface(module, schema, limits)),
    [module, schema, limits],
  );
  if (fault !== undefined || !isValid) {
    return (
      <Notice kind="warning" title="This module looks invalid">
        <p>
          {fault === undefined
            ? 'This browser’s engine rejects it. The server will probably reject it too.'
            : `${fault.charAt(0).toUpperCase()}${fault.slice(1)}. The server will probably reject it.`}
        </p>
      </Notice>
    );
  }
  const expected = functionNames(schema, 'exports');
  const optional = optionalExports(schema);
  const absent = expected.filter((name) => !exports.includes(name));
  const missing = absent.filter((name) => !optional.has(name));
  return (
    <div class="findings">
      {expected.length === 0 ? null : (
        <ul class="found-exports" aria-label="Exports that the application expects">
          {expected.map((name) => (
            <li key={name} class={missing.includes(name) ? 'found-missing' : 'found-there'}>
              <span aria-hidden="true">{missing.includes(name) ? '✗' : absent.includes(name) ? '–' : '✓'}</span>{' '}
              <code>{name}</code>
              {missing.includes(name) ? ' is missing' : null}
              {absent.includes(name) && optional.has(name) ? ' is optional, and missing' : null}
              {absent.includes(name) ? null : <span class="visually-hidden"> is there</span>}
            </li>
          ))}
        </ul>
      )}
      {mismatches.length === 0 || isRefused ? null : (
        <Notice kind="warning" title="This module doesn’t match the schema and will be refused">
          <ul class="mismatches">
            {mismatches.map(({ pointer, detail }) => (
              <li key={pointer + detail}>{detail}</li>
            ))}
          </ul>
        </Notice>
      )}
      <p class="soft small">
        {imports.size === 0 ? 'No imports' : 'Imports from '}
        {[...imports].map(([from, names], at) => (
          <span key={from} title={names.join(', ')}>
            {at === 0 ? '' : ', '}
            <code>{from}</code> ({names.length})
          </span>
        ))}
        {exports.length === 0 ? '; no exported functions.' : '.'}
      </p>
    </div>
  );
}
