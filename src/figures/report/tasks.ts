/** The title and question of a task. */
export interface TaskInWords {
	readonly title: string;
	readonly question: string;
}

const known: Readonly<Record<string, TaskInWords>> = {
	next: { title: "The next record", question: "Which code comes next, told when it comes?" },
	forecast: {
		title: "Records far ahead",
		question: "Which codes come at later dates, from the beginning of a history alone?",
	},
	insulin: {
		title: "Insulin",
		question: "Does insulin start within six months of the first diabetes record?",
	},
	chf: { title: "Heart failure", question: "Does heart failure come next?" },
};

export const taskOf = (task: string): TaskInWords =>
	known[task] ?? { title: task, question: `The question of the task “${task}”:` };
