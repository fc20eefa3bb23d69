import type { App, InvitationResults } from '@tenon/protocol';
import { CsvError } from '@tenon/protocol/csv';
import {
  type CsvInvitation,
  csvColumns,
  type InvitationCsv,
  invitationChunks,
  readInvitationCsv,
} from '@tenon/protocol/invitation-csv';
import { useRef, useState } from 'preact/hooks';
import { Button, LinkButton } from '../../components/button.tsx';
import { count, counted } from '../../components/count.ts';
import { DropZone } from '../../components/drop-zone.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { CheckboxField, TextAreaField } from '../../components/field.tsx';
import { LeaveDialog } from '../../components/leave-dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { useApi, useSendsMail } from '../../state/services.ts';
import { useHeadingFocus } from '../../state/use-heading-focus.ts';
import { useNavigationGuard } from '../../state/use-navigation-guard.ts';
import { AppFrame } from './app-frame.tsx';
import { Results, type RowResult } from './bulk/results.tsx';
import { mayManage, useApp } from './use-app.ts';

/** Invites many guests from a CSV file. */
export function GuestImportPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Guests">
      {(data) =>
        mayManage(data.role) ? (
          <GuestImport app={data} />
        ) : (
          <EmptyState title="You can’t invite guests here">
            <p>Owners and admins of {data.name} invite guests.</p>
          </EmptyState>
        )
      }
    </AppFrame>
  );
}

const maxFileBytes = 10 * 1024 * 1024;

interface Sending {
  readonly results: readonly RowResult[];
  readonly isRunning: boolean;
  /** Why it stopped before the last row. */
  readonly error?: unknown;
}

function GuestImport({ app }: { readonly app: App }) {
  const api = useApi();
  const [text, setText] = useState('');
  const [file, setFile] = useState<{ readonly name: string; readonly bytes: number }>();
  const [csv, setCsv] = useState<InvitationCsv>();
  const [fault, setFault] = useState<string>();
  const [renews, setRenews] = useState(false);
  const canBeMailed = useSendsMail();
  const [isMailed, setMailed] = useState(false);
  const [sending, setSending] = useState<Sending>();
  const [isSaved, setSaved] = useState(false);
  const isStopped = useRef(false);
  const keepFocus = useHeadingFocus();
  const leaving = useNavigationGuard(
    sending !== undefined && (sending.isRunning || hasLinks(sending) ? !isSaved : false),
  );
  const valid = (csv?.invitations ?? []).filter(({ faults }) => faults.length === 0);

  const read = (content: string): void => {
    setFault(undefined);
    setCsv(undefined);
    if (content.trim() === '') return;
    try {
      setCsv(readInvitationCsv(content));
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      setFault(error.message);
    }
  };
  const addFile = async ([one, ...others]: readonly File[]): Promise<void> => {
    if (one === undefined) return;
    setText('');
    setCsv(undefined);
    if (others.length > 0) return setFault('Add one file at a time.');
    if (one.size > maxFileBytes) return setFault('The file is larger than 10 MiB.');
    setFile({ name: one.name, bytes: one.size });
    try {
      read(new TextDecoder('utf-8', { fatal: true }).decode(await one.arrayBuffer()));
    } catch {
      setFault('Couldn’t read the file. It must be CSV in UTF-8.');
    }
  };
  const send = async (): Promise<void> => {
    keepFocus();
    isStopped.current = false;
    let results = sending?.results ?? [];
    // The response to the rows after the last result may have been lost with their links.
    let isRepeated = sending?.error !== undefined;
    try {
      for (const chunk of invitationChunks(valid.slice(results.length))) {
        setSending({ results, isRunning: true });
        if (isStopped.current) break;
        const body = {
          ...(isMailed && { deliveryMethod: 'email' }),
          invitations: chunk.map(({ row }) => row),
          whenPending: renews || isRepeated ? 'renew' : 'keep',
        };
        const { objects } = await api.post<InvitationResults>(`/api/v1/apps/${app.id}/invitations`, body);
        isRepeated = false;
        results = [...results, ...chunk.flatMap(({ row }, at) => rowResult(row, objects[at]))];
      }
      setSending({ results, isRunning: false });
    } catch (error) {
      setSending({ results, isRunning: false, error });
    }
  };

  if (sending !== undefined) {
    const rest = valid.length - sending.results.length;
    return (
      <Section title={sending.isRunning ? 'Inviting…' : 'Invitations'}>
        <div class="stack">
          {rest === 0 ? null : <progress value={sending.results.length} max={valid.length} aria-label="Invited" />}
          {sending.isRunning ? (
            <>
              <p role="status">
                {count(sending.results.length)} of {counted(valid.length, 'row')}
              </p>
              <div class="actions">
                <Button kind="quiet" onClick={() => (isStopped.current = true)}>
                  Stop
                </Button>
              </div>
            </>
          ) : (
            <>
              {rest === 0 ? null : (
                <Notice kind="warning" title={`${counted(rest, 'row')} not invited yet`}>
                  <p>Nothing is lost. You can continue, or download the results so far.</p>
                </Notice>
              )}
              <ErrorView error={sending.error} />
              {rest === 0 ? null : (
                <div class="actions">
                  <Button onClick={() => void send()}>Continue</Button>
                </div>
              )}
              <Results results={sending.results} onSaved={() => setSaved(true)} />
              <div class="actions">
                <LinkButton kind="quiet" to={`/apps/${app.id}/guests`}>
                  Back to guests
                </LinkButton>
              </div>
            </>
          )}
          <LeaveDialog
            question={leaving}
            title="Leave without saving the links?"
            text="The links can’t be shown again. You would have to create new ones."
          />
        </div>
      </Section>
    );
  }
  return (
    <Section
      title="Invite guests from a file"
      intro={
        <>
          CSV with a first line of column names: <code>{csvColumns.join(',')}</code>. Only <code>guestKey</code> is
          required. Guests see the label, and your team the rest.
        </>
      }
    >
      <div class="stack">
        <DropZone
          label="Drop a .csv file here"
          accept=".csv,text/csv,text/plain"
          hint="Nothing is sent until you press the button below the preview."
          {...(file === undefined ? {} : { file })}
          onFiles={(files) => void addFile(files)}
        />
        {file === undefined ? (
          <TextAreaField
            label="Or paste rows"
            name="rows"
            rows={5}
            value={text}
            onInput={(value) => {
              setText(value);
              read(value);
            }}
            isRequired={false}
            isCode
            placeholder={`${csvColumns.join(',')}\ncustomers/globex,Grace Hopper,grace@example.org,Globex,`}
          />
        ) : null}
        {fault === undefined ? null : (
          <Notice kind="failed" title="This can’t be read as a list of guests">
            <p>{fault}</p>
          </Notice>
        )}
        {csv === undefined ? null : <Preview csv={csv} validCount={valid.length} />}
        {csv === undefined ? null : (
          <CheckboxField
            label="Create new links for people who are invited already"
            name="renews"
            isChecked={renews}
            onChange={setRenews}
            hint="Their earlier links stop working. Otherwise these rows change only the label and the note."
          />
        )}
        {csv !== undefined && canBeMailed ? (
          <CheckboxField
            label="Also send the links by e-mail"
            name="isMailed"
            isChecked={isMailed}
            onChange={setMailed}
            hint="To the rows that have an e-mail address."
          />
        ) : null}
        <div class="actions">
          <Button isDisabled={valid.length === 0} onClick={() => void send()}>
            {valid.length === 0 ? 'Invite' : `Invite ${counted(valid.length, 'guest')}`}
          </Button>
          <LinkButton kind="quiet" to={`/apps/${app.id}/guests`}>
            Cancel
          </LinkButton>
        </div>
      </div>
    </Section>
  );
}

function hasLinks({ results }: Sending): boolean {
  return results.some(({ result }) => result.link !== undefined);
}

function rowResult(row: RowResult['row'], result: RowResult['result'] | undefined): RowResult[] {
  return result === undefined ? [] : [{ row, result }];
}

/** With more rows, only the first ones are shown. */
const shownRows = 20;

function Preview({ csv, validCount }: { readonly csv: InvitationCsv; readonly validCount: number }) {
  const { invitations, ignored } = csv;
  const faulty = invitations.filter(({ faults }) => faults.length > 0);
  const shown = [...faulty, ...invitations.filter(({ faults }) => faults.length === 0)].slice(0, shownRows);
  return (
    <div class="stack">
      <p role="status">
        {counted(validCount, 'row')} to invite
        {faulty.length === 0 ? '.' : `, ${counted(faulty.length, 'row')} with errors, which will be left out.`}
        {ignored.length === 0 ? null : ` Ignored columns: ${ignored.slice(0, 10).join(', ')}.`}
      </p>
      {invitations.length === 0 ? null : (
        <Table
          caption="Preview"
          rows={shown}
          rowKey={({ line }) => String(line)}
          columns={[
            { header: 'Line', cell: ({ line }: CsvInvitation) => count(line) },
            { header: 'Guest key', cell: ({ row }) => <code>{row.guestKey}</code> },
            { header: 'Name', cell: ({ row }) => row.name ?? <span class="soft">–</span> },
            { header: 'E-mail address', cell: ({ row }) => row.email ?? <span class="soft">–</span> },
            { header: 'Label', cell: ({ row }) => row.label ?? <span class="soft">–</span> },
            {
              header: 'Errors',
              cell: ({ faults }) =>
                faults.length === 0 ? <span class="soft">–</span> : <span class="field-error">{faults.join(' ')}</span>,
            },
          ]}
        />
      )}
      {invitations.length > shownRows ? (
        <p class="soft small">
          The first {shownRows} of {count(invitations.length)}, those with errors first.
        </p>
      ) : null}
    </div>
  );
}
