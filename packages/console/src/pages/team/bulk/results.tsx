import type { InvitationResult, InvitationRow } from '@tenon/protocol';
import { resultCsvHeader, resultCsvLine } from '@tenon/protocol/invitation-csv';
import { saveBlob } from '../../../api/save-blob.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { count, counted } from '../../../components/count.ts';
import { Table } from '../../../components/table.tsx';

/** A row with what became of it. */
export interface RowResult {
  readonly row: InvitationRow;
  readonly result: InvitationResult;
}

/** With more results, only the first ones are shown. The file has all. */
const shownResults = 100;

const kinds = { invited: 'good', renewed: 'good', pending: 'waiting', accepted: 'plain', failed: 'bad' } as const;
const words = {
  invited: 'invited',
  renewed: 'new link',
  pending: 'already invited',
  accepted: 'already accepted',
  failed: 'failed',
} as const;

/** The links that were created, to copy, and to save as a file. */
export function Results(props: { readonly results: readonly RowResult[]; readonly onSaved: () => void }) {
  const { results, onSaved } = props;
  const links = results.filter(({ result }) => result.link !== undefined).length;
  const save = (): void => {
    const lines = results.map(({ row, result }) => resultCsvLine(row, result));
    // With a byte order mark: without one, Excel reads another encoding than UTF-8.
    saveBlob(new Blob(['\ufeff', resultCsvHeader, ...lines], { type: 'text/csv' }), 'invitations.csv');
    onSaved();
  };
  return (
    <div class="stack">
      <p role="status">{summaryOf(results)}</p>
      {links === 0 ? null : (
        <p>
          <strong>Save the links now. You won’t see them again.</strong> The server keeps only hashes. Each link works
          once, for 7 days by default.
        </p>
      )}
      <div class="actions">
        <Button onClick={save}>Download CSV</Button>
      </div>
      <Table
        caption="Results"
        rows={results.slice(0, shownResults).map((one, at) => ({ ...one, at }))}
        rowKey={({ at }) => String(at)}
        columns={[
          { header: 'Guest key', cell: ({ row }) => <code>{row.guestKey}</code> },
          { header: 'For', cell: ({ row }) => row.name ?? row.email ?? <span class="soft">–</span> },
          {
            header: 'Result',
            cell: ({ result: { outcome, error, isMailed } }) => (
              <>
                <Badge kind={kinds[outcome]}>{words[outcome]}</Badge>
                {isMailed ? <span class="soft small"> mailed</span> : null}
                {error === undefined ? null : <span class="soft small"> {error.detail}</span>}
              </>
            ),
          },
          {
            header: 'Actions',
            isActions: true,
            cell: ({ row, result: { link } }) =>
              link === undefined ? null : (
                <CopyButton
                  text={link}
                  what={`the link for ${row.guestKey}`}
                  onCopied={links === 1 ? onSaved : undefined}
                />
              ),
          },
        ]}
      />
      {results.length > shownResults ? (
        <p class="soft small">
          The first {shownResults} of {count(results.length)}. The file has all.
        </p>
      ) : null}
    </div>
  );
}

function summaryOf(results: readonly RowResult[]): string {
  const counts = new Map<keyof typeof words, number>();
  for (const { result } of results) counts.set(result.outcome, (counts.get(result.outcome) ?? 0) + 1);
  const parts = [...counts].map(([outcome, number]) => `${count(number)} ${words[outcome]}`);
  return `${counted(results.length, 'row')}: ${new Intl.ListFormat('en').format(parts)}.`;
}
