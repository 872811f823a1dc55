/** What a team would write first: Hono, a DynamoDB client, one conditional write. The measure for the others. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';

const table = DynamoDBDocumentClient.from(new DynamoDBClient());
const app = new Hono();

app.post('/push', async (context) => {
  const { id } = await context.req.json();
  await table.send(
    new PutCommand({ TableName: 'seen', Item: { id }, ConditionExpression: 'attribute_not_exists(id)' }),
  );
  return context.json({ ok: true });
});

export const handler = handle(app);
