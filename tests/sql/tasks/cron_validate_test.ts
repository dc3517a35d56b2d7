import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";

/** The server's refusal of an expression. */
async function refusal(sql: TestSql, expression: string, zone = "UTC"): Promise<{ message: string; hint: string }> {
  try {
    await sql`select uptuple.cron_validate(${expression}, ${zone})`;
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string };
    assert.equal(code, "22023", message);
    return { message, hint };
  }
  throw new assert.AssertionError({ message: `"${expression}" in ${zone} is accepted` });
}

Deno.test("a refusal names the field, the value and what is allowed", async () => {
  await using database = await testDatabase();
  const refusals: Record<string, string> = {
    "61 * * * *": 'cron field minute: "61" is not one of its values; allowed are 0-59',
    "* 24 * * *": 'cron field hour: "24" is not one of its values; allowed are 0-23',
    "* * 0 * *": 'cron field day-of-month: "0" is not one of its values; allowed are 1-31',
    "* * * 13 *": 'cron field month: "13" is not one of its values; allowed are 1-12 and the names JAN to DEC',
    "* * * FOO *": 'cron field month: "FOO" is not one of its values; allowed are 1-12 and the names JAN to DEC',
    "* * * * 8": 'cron field day-of-week: "8" is not one of its values; allowed are 0-7 and the names SUN to SAT',
    "60 * * * * *": 'cron field second: "60" is not one of its values; allowed are 0-59',
    "* * * ANF *": 'cron field month: "ANF" is not one of its values; allowed are 1-12 and the names JAN to DEC',
    "5-3 * * * *": 'cron field minute: the range "5-3" runs backwards; allowed are 0-59',
    "* * * * SAT-MON":
      'cron field day-of-week: the range "SAT-MON" runs backwards; allowed are 0-7 and the names SUN to SAT',
    "*/0 * * * *": 'cron field minute: the step in "*/0" is 0; allowed are 0-59',
    "1,,2 * * * *": 'cron field minute: "" is not a value, a range or a step; allowed are 0-59',
    "? * * * *": 'cron field minute: "?" is not a value, a range or a step; allowed are 0-59',
    "*-5 * * * *": 'cron field minute: "*-5" is not a value, a range or a step; allowed are 0-59',
    "99999999999 * * * *": 'cron field minute: "99999999999" is not a value, a range or a step; allowed are 0-59',
    "* * 32W * *": 'cron field day-of-month: "32W" is not a value, a range or a step; allowed are 1-31',
    "* * L-31 * *": 'cron field day-of-month: "L-31" is not a value, a range or a step; allowed are 1-31',
    "* * * * L":
      'cron field day-of-week: "L" is not a value, a range or a step; allowed are 0-7 and the names SUN to SAT',
    "* * * * MON#6":
      'cron field day-of-week: "MON#6" is not a value, a range or a step; allowed are 0-7 and the names SUN to SAT',
  };
  for (const [expression, message] of Object.entries(refusals)) {
    assert.equal((await refusal(database.owner, expression)).message, message);
  }
});

Deno.test("a refusal's hint says what may be written in that field", async () => {
  await using database = await testDatabase();
  assert.match((await refusal(database.owner, "61 * * * *")).hint, /a step such as \*\/2/);
  assert.match((await refusal(database.owner, "* * 32 * *")).hint, /LW \(last weekday\)/);
  assert.match((await refusal(database.owner, "* * * * 8")).hint, /MON#2 \(second Monday\)/);
});

Deno.test("what is not five fields, six fields or a nickname is refused with what is allowed", async () => {
  await using database = await testDatabase();
  const refusals: Record<string, string> = {
    "": 'cron expression "" has 0 fields; allowed are 5 or 6',
    "* * * *": 'cron expression "* * * *" has 4 fields; allowed are 5 or 6',
    "* * * * * * *": 'cron expression "* * * * * * *" has 7 fields; allowed are 5 or 6',
    "@reboot":
      'cron nickname "@reboot" is not known; allowed are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly',
  };
  for (const [expression, message] of Object.entries(refusals)) {
    assert.equal((await refusal(database.owner, expression)).message, message);
  }
  await assert.rejects(database.owner`select uptuple.cron_validate(null)`, /must be given, not null/);
});

Deno.test("an expression that can never fire is refused", async () => {
  await using database = await testDatabase();
  for (const expression of ["0 0 30 2 *", "0 0 31 4 ?", "0 0 0 15W * SAT"]) {
    const { message } = await refusal(database.owner, expression);
    assert.equal(message, `cron expression "${expression}" never fires in UTC`);
  }
});

Deno.test("a zone is accepted if it is a name that the server knows, in any case", async () => {
  await using database = await testDatabase();
  const known = ["UTC", "europe/berlin", "US/Pacific", "Asia/Calcutta", "Europe/Kiev", "CET", "Etc/GMT-3", "EST5EDT"];
  for (const zone of known) await database.owner`select uptuple.cron_validate('@daily', ${zone})`;

  const [row] = await database.owner`
    select uptuple.canonical_zone('america/NEW_york') as city, uptuple.canonical_zone('utc') as utc`;
  assert.deepEqual({ ...row }, { city: "America/New_York", utc: "UTC" });
});

Deno.test("an offset, a POSIX rule and an unknown name are refused as zones", async () => {
  await using database = await testDatabase();
  for (const zone of ["+03", "UTC+2", "+02:00", "FOO5", "<+03>-3", ""]) {
    const { message, hint } = await refusal(database.owner, "@daily", zone);
    assert.equal(message, `time_zone "${zone}" is not a zone's name`);
    assert.match(hint, /Offsets such as \+03 and UTC\+2 are refused/);
    await assert.rejects(database.owner`select uptuple.cron_next('@daily', ${zone}, now())`, /is not a zone's name/);
  }
  for (const zone of ["Mars/Phobos", "Europe/Nowhere", "CEST"]) {
    assert.equal((await refusal(database.owner, "@daily", zone)).message, `time_zone "${zone}" is not known`);
  }
});
