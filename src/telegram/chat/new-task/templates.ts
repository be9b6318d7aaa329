/** A task to begin with: its text, a time that most people would choose, and what goes with it. */
export interface Template {
  /** Stands in the data of buttons, so it never changes its meaning. */
  readonly id: string;
  /** For the button. */
  readonly name: string;
  readonly text: string;
  /** Read like the words of a person. */
  readonly when: string;
  /** The day of the year is asked for, because nobody can guess it; it comes at this time then. */
  readonly yearlyAt?: string;
  readonly policies?: {
    readonly ack?: { readonly nag_every: string; readonly nag_limit: number };
    readonly missed?: 'skip' | 'once';
  };
}

/** Until somebody has pressed Done: what must not be forgotten. */
const insist = { ack: { nag_every: 'PT10M', nag_limit: 3 } } as const;
const askForDone = { ack: { nag_every: 'PT1H', nag_limit: 2 } } as const;

export const templates: readonly Template[] = [
  { id: 'pill', name: '💊 Medication', text: 'Take your medication', when: 'every day at 08:00', policies: insist },
  {
    id: 'standup',
    name: '👥 Stand-up',
    text: 'Stand-up in 15 minutes\nWhat did you do? What is next? What is in the way?',
    when: 'every weekday at 09:15',
  },
  {
    id: 'birthday',
    name: '🎂 Birthday',
    text: 'Somebody has a birthday today. Send a card!',
    when: 'every year on 24 december at 09:00',
    yearlyAt: '09:00',
  },
  {
    id: 'backup',
    name: '💾 Backup check',
    text: 'Check the backups\nDid last night’s backup run? Can one file be restored?',
    when: 'every monday at 10:00',
    policies: askForDone,
  },
  {
    id: 'rent',
    name: '🏠 Rent',
    text: 'Pay the rent',
    when: 'every month on the 1st at 09:00',
    policies: askForDone,
  },
  { id: 'bins', name: '🗑 Bins', text: 'Put the bins out', when: 'every 2 weeks on tuesday at 19:00' },
  {
    id: 'review',
    name: '📋 Weekly review',
    text: 'Weekly review\nWhat went well? What did not? What comes next week?',
    when: 'every friday at 16:00',
  },
  { id: 'plants', name: '🪴 Water the plants', text: 'Water the plants', when: 'every 3 days at 09:00' },
  {
    id: 'water',
    name: '💧 Drink water',
    text: 'Drink a glass of water',
    when: 'every 2 hours from 8 to 20',
    policies: { missed: 'skip' },
  },
  {
    id: 'invoice',
    name: '🧾 Invoices',
    text: 'Write the invoices of this month',
    when: 'on the last day of the month at 10:00',
    policies: askForDone,
  },
  {
    id: 'notes',
    name: '📝 Meeting notes',
    text: 'Write down what the meeting decided, and send it round',
    when: 'every thursday at 17:00',
  },
  {
    id: 'morning',
    name: '☀️ Good morning',
    text: 'Good morning! What are the three things that matter today?',
    when: 'every day at 07:30',
    policies: { missed: 'skip' },
  },
];
