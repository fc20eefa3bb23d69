/** A schema to begin with. */
export interface SchemaTemplate {
  readonly name: string;
  readonly text: string;
}

/** The first one stands in the editor of a new extension point. */
export const schemaTemplates: readonly [SchemaTemplate, ...SchemaTemplate[]] = [
  {
    name: 'JSON in, JSON out',
    text: `version: v1-draft
description: What a plugin is for, and when it is called.
exports:
  evaluate:
    description: Computes a cell's value from its arguments.
    input:
      type: object
      contentType: application/json
      properties:
        arguments:
          type: array
          items:
            type: number
      required: [arguments]
    output:
      type: number
      contentType: application/json
`,
  },
  {
    name: 'Text in, text out',
    text: `version: v1-draft
description: What a plugin is for, and when it is called.
exports:
  greet:
    description: Greets a person by name.
    input:
      type: string
      contentType: text/plain; charset=utf-8
    output:
      type: string
      contentType: text/plain; charset=utf-8
`,
  },
  {
    name: 'Bytes in, bytes out',
    text: `version: v1-draft
description: What a plugin is for, and when it is called.
exports:
  convert:
    description: Converts a file, such as an image.
    input:
      type: buffer
      contentType: application/x-binary
    output:
      type: buffer
      contentType: application/x-binary
      nullable: true
`,
  },
  {
    name: 'Events, with host functions',
    text: `version: v1-draft
description: What a plugin is for, and when it is called.
exports:
  onOrder:
    description: Called for each new order.
    input:
      $ref: "#/components/schemas/Order"
      contentType: application/json
imports:
  sendNotice:
    description: Sends a text to the team.
    input:
      type: string
      contentType: text/plain; charset=utf-8
components:
  schemas:
    Order:
      description: What a customer bought.
      required: [id, total]
      properties:
        id:
          type: string
        total:
          type: number
          format: double
        status:
          enum: [open, paid, shipped]
`,
  },
];
