import type { MemoryDescription } from '@tenon/instrument';
import { Badge } from '../../../components/badge.tsx';
import { byteSize } from '../../../components/byte-size.ts';
import { count } from '../../../components/count.ts';
import type { ModuleFacts } from './open-module.ts';

/** A module's size, imports, exports and features. */
export function FactsSection({ facts }: { readonly facts: ModuleFacts }) {
  const { functions, importedFunctions, memories, exports, moreExports, proposals } = facts;
  return (
    <dl class="facts trace-facts">
      <div>
        <dt>Functions</dt>
        <dd>
          {count(functions)}
          {importedFunctions === 0 ? '' : `, of which ${count(importedFunctions)} imported`}
        </dd>
      </div>
      <div>
        <dt>Exported functions</dt>
        <dd>{count(exports.length + moreExports)}</dd>
      </div>
      <div>
        <dt>Memory</dt>
        <dd>{memories.length === 0 ? 'none' : memories.map(formatMemory).join('; ')}</dd>
      </div>
      <div>
        <dt>Imports from</dt>
        <dd>
          <Imports facts={facts} />
        </dd>
      </div>
      <div class="trace-proposals">
        <dt>Post-MVP features</dt>
        <dd>
          {proposals.length === 0 ? (
            'none'
          ) : (
            <span class="badges">
              {proposals.map((name) => (
                <Badge key={name}>{name}</Badge>
              ))}
            </span>
          )}
        </dd>
      </div>
    </dl>
  );
}

function Imports({ facts: { imports, moreImports } }: { readonly facts: ModuleFacts }) {
  if (imports.length === 0) return <>none</>;
  return (
    <>
      <ul class="names">
        {imports.map(({ module, count: howMany, names }) => (
          <li key={module} title={names.join(', ')}>
            <code>{module}</code> ({count(howMany)})
          </li>
        ))}
      </ul>
      {moreImports === 0 ? null : `, and ${count(moreImports)} more`}
    </>
  );
}

function formatMemory({ minimumPages, maximumPages, pageBytes, isImported, isShared }: MemoryDescription): string {
  const limit = maximumPages === undefined ? '' : `, at most ${byteSize(maximumPages * pageBytes)}`;
  const kinds = [isImported ? 'imported' : '', isShared ? 'shared' : ''].filter(Boolean);
  return `${byteSize(minimumPages * pageBytes)}${limit}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`;
}
