import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Badge } from './badge.tsx';
import { Markdown } from './markdown/markdown.tsx';
import './schema-view.css';
import {
  type FieldOutline,
  type FunctionOutline,
  outlineOf,
  type Remark,
  type ValueOutline,
} from './schema/outline.ts';

/**
 * An extension point's schema as documentation: exports, imports, types and remarks. Render it below a second-level heading.
 *
 * @param schema the schema from the API; any JSON value is accepted
 */
export function SchemaView({ schema }: { readonly schema: unknown }) {
  const outline = useMemo(() => outlineOf(schema), [schema]);
  const { version, description, exports, imports, types, remarks } = outline;
  return (
    <div class="schema">
      {version === undefined && description === undefined ? null : (
        <div class="schema-about">
          {description === undefined ? null : <Prose text={description} />}
          {version === undefined ? null : <Badge>version {version}</Badge>}
        </div>
      )}
      <Functions
        title="Exports"
        intro="A plugin exports these functions, and the application calls them."
        functions={exports}
        none="The schema names no exports: the application says elsewhere what it calls."
      />
      {imports.length === 0 ? null : (
        <Functions
          title="Imports"
          intro="A plugin may import these functions, which the application gives it."
          functions={imports}
        />
      )}
      {types.length === 0 ? null : (
        <SchemaPart title="Types">
          {types.map(({ name, value }) => (
            <article key={name} class="schema-function">
              <h4>
                <code>{name}</code>
              </h4>
              <Value value={value} />
            </article>
          ))}
        </SchemaPart>
      )}
      {remarks.length === 0 ? null : (
        <SchemaPart title="More">
          <Remarks remarks={remarks} />
        </SchemaPart>
      )}
    </div>
  );
}

function SchemaPart({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="schema-part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function Functions(props: {
  readonly title: string;
  readonly intro: string;
  readonly functions: readonly FunctionOutline[];
  readonly none?: string;
}) {
  return (
    <SchemaPart title={props.title}>
      <p class="soft small">{props.functions.length === 0 ? props.none : props.intro}</p>
      {props.functions.map(({ name, description, input, output, samples, remarks }) => (
        <article key={name} class="schema-function">
          <h4>
            <code>{name}</code>
          </h4>
          {description === undefined ? null : <Prose text={description} />}
          {input === undefined && output === undefined ? null : (
            <dl class="schema-values">
              {input === undefined ? null : <Labelled label="Input" value={input} />}
              {output === undefined ? null : <Labelled label="Output" value={output} />}
            </dl>
          )}
          <Remarks remarks={remarks} />
          {samples.map(({ title, source }) => (
            <figure key={title} class="schema-sample">
              <figcaption class="soft small">{title}</figcaption>
              <Block text={source} />
            </figure>
          ))}
        </article>
      ))}
    </SchemaPart>
  );
}

function Labelled({ label, value }: { readonly label: string; readonly value: ValueOutline }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <Value value={value} />
      </dd>
    </div>
  );
}

function Value({ value }: { readonly value: ValueOutline }) {
  return (
    <div class="schema-value">
      <p>
        <TypeName value={value} />
      </p>
      <AboutValue value={value} />
    </div>
  );
}

function TypeName({ value: { type, contentType } }: { readonly value: ValueOutline }) {
  return (
    <>
      <code class="schema-type">{type}</code>
      {contentType === undefined ? null : <span class="soft small"> as {contentType}</span>}
    </>
  );
}

/** What there is to say of a value beside its type. */
function AboutValue({ value: { description, values, fields, remarks } }: { readonly value: ValueOutline }) {
  return (
    <>
      {description === undefined ? null : <Prose text={description} />}
      {values.length === 0 ? null : (
        <div>
          <span class="soft small">one of </span>
          <ul class="names">
            {values.map((each) => (
              <li key={each}>
                <code>{each}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Fields fields={fields} />
      <Remarks remarks={remarks} />
    </>
  );
}

function Fields({ fields }: { readonly fields: readonly FieldOutline[] }) {
  if (fields.length === 0) return null;
  return (
    <dl class="schema-fields">
      {fields.map(({ name, isRequired, value }) => (
        <div key={name}>
          <dt>
            <code class="schema-field-name">{name}</code> <TypeName value={value} />
            {isRequired ? null : <span class="soft small"> optional</span>}
          </dt>
          <dd>
            <AboutValue value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Schema fields without a dedicated place: inline if short, else as JSON. */
function Remarks({ remarks }: { readonly remarks: readonly Remark[] }) {
  if (remarks.length === 0) return null;
  return (
    <dl class="schema-remarks">
      {remarks.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {isShort(value) ? (
              <code>{inWords(value)}</code>
            ) : (
              <Block text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 200 && !value.includes('\n');
  return typeof value !== 'object' || value === null || JSON.stringify(value).length <= 72;
}

function inWords(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.map(String).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** It may be wider than there is room, so that the keyboard has to reach it. */
function Block({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre tabIndex={0}>{text}</pre>
  );
}

/** Text with the author's line breaks. */
function Prose({ text }: { readonly text: string }) {
  return <Markdown text={text} headingLevel={5} />;
}
