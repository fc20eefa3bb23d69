import { Notice } from '../../components/notice.tsx';
import type { ModuleCheck } from './check-module.ts';

/** What was found in a module before it is sent, against what the extension point's schema names. Hints: the server decides. */
export function ModuleFindings({
  check,
  expected,
}: {
  readonly check: Extract<ModuleCheck, { kind: 'module' }>;
  /** The exports that the schema names. */
  readonly expected: readonly string[];
}) {
  const { isValid, exports, imports, fault } = check;
  if (fault !== undefined || !isValid) {
    return (
      <Notice kind="warning" title="This does not look like a sound module">
        <p>
          {fault === undefined
            ? 'This browser’s engine refuses it. The server will most likely do so too.'
            : `${fault.charAt(0).toUpperCase()}${fault.slice(1)}. The server will most likely refuse it.`}
        </p>
      </Notice>
    );
  }
  const missing = expected.filter((name) => !exports.includes(name));
  return (
    <div class="findings">
      {expected.length === 0 ? null : (
        <ul class="found-exports" aria-label="Exports that the application expects">
          {expected.map((name) => (
            <li key={name} class={missing.includes(name) ? 'found-missing' : 'found-there'}>
              <span aria-hidden="true">{missing.includes(name) ? '✗' : '✓'}</span> <code>{name}</code>
              {missing.includes(name) ? ' is missing' : <span class="visually-hidden"> is there</span>}
            </li>
          ))}
        </ul>
      )}
      {missing.length === 0 ? null : (
        <p class="small">
          The application calls what its extension point names, so the server will most likely refuse a plugin without.
        </p>
      )}
      <p class="soft small">
        {imports.size === 0 ? 'It imports nothing' : 'It imports from '}
        {[...imports].map(([module, names], at) => (
          <span key={module} title={names.join(', ')}>
            {at === 0 ? '' : ', '}
            <code>{module}</code> ({names.length})
          </span>
        ))}
        {exports.length === 0 ? ', and exports no function.' : '.'}
      </p>
    </div>
  );
}
