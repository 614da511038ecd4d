import { specialCount, specialTokens, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { type ExportManifest, labelFile, riskFile } from "./manifest.js";

interface ExampleEvent {
	readonly code: string;
	/** A date, or a day on the axis of the records. */
	readonly date: string | number;
}

/** An invented person with the most frequent codes, and a query time. */
function invented({ tokens }: Vocabulary, axis: ExportManifest["records"]["axis"]) {
	const byDates = axis === "dates";
	const frequent = tokens
		.slice(specialCount)
		.sort((a, b) => b.count - a.count)
		.slice(0, 3);
	const dates = byDates ? ["2010-03-01", "2011-09-15", "2012-02-20"] : [21_900, 22_450, 22_600];
	const events = frequent.map(({ code }, i): ExampleEvent => ({ code, date: dates[i] }));
	return { birth: byDates ? "1950-06-01" : 0, events, at: byDates ? "2013-01-01" : 23_000 };
}

const json = (value: unknown) => JSON.stringify(value);

/** `example.py`: a class like those of scikit-learn, with onnxruntime and numpy. */
export function pythonExample(
	vocabulary: Vocabulary,
	{ records, population, task, graphs }: ExportManifest,
): string {
	const { birth, events, at } = invented(vocabulary, records.axis);
	const [birthToken, female, male] = [
		specialTokens.birth,
		specialTokens.female,
		specialTokens.male,
	].map((token) => json(vocabulary.tokens[token].code));
	const days =
		records.axis === "dates"
			? 'np.datetime64(date, "D").astype(int)'
			: "date  # a day on the axis of the records";
	const lines = events.map(({ code, date }) => `            (${json(code)}, ${json(date)}),`);
	const riskTask = task && !graphs[labelFile];
	const hasRisks = graphs[riskFile] !== undefined;
	const notes = [
		...(population ? [`The model was trained on a ${population}.`] : []),
		...(riskTask
			? [
					"The head of the fine-tuned label reads a risk, and has no graph: the library and HTTP give its probability.",
					"Here, predict_proba is about codes.",
				]
			: []),
		"pip install onnxruntime numpy",
	];
	return `${notes.map((note) => `# ${note}\n`).join("")}import json
import os
import numpy as np

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before onnxruntime loads
import onnxruntime


def time(date):
    return ${days}


class TrajGPT:
    """A folder that \`trajgpt export\` wrote, with the interface of a scikit-learn classifier.

    A patient has "events", a list of (code, date); "at", the time of the prediction; and, if known, "sex" and "birth".
    """

    def __init__(self, folder):
        def read(name):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return json.load(file)

        vocabulary, manifest = read("vocabulary.json")["tokens"], read("export.json")
        self.names = [token["name"] for token in vocabulary]
        self.tokens = {token["code"]: number for number, token in enumerate(vocabulary)}
        self.label = "${labelFile}" in manifest["graphs"]
        self.max_length = manifest["task"]["scoring"]["maxLength"] if self.label else None
        self.classes_ = np.array([False, True]) if self.label else np.array(list(self.tokens))
        graph = os.path.join(folder, "${labelFile}" if self.label else "sequence.onnx")
        self.session = onnxruntime.InferenceSession(graph)
${hasRisks ? riskSetUp : ""}
    def feeds(self, patients, max_length=None):
        histories = [self.history(patient, max_length) for patient in patients]
        shape = (len(histories), max([1, *map(len, histories)]))
        tokens, times, mask = np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape, bool)
        for row, history in enumerate(histories):
            for place, (code, date) in enumerate(history):
                tokens[row, place], times[row, place], mask[row, place] = self.tokens[code], date, True
        at = np.array([time(patient["at"]) for patient in patients], float)
        return {"tokens": tokens, "times": times, "mask": mask, "at": at}

    def history(self, patient, max_length):
        births = {"female": ${female}, "male": ${male}}
        birth = patient.get("birth")
        born = [] if birth is None else [(births.get(patient.get("sex"), ${birthToken}), time(birth))]
        # Sorted by time; records after the prediction are not known.
        events = sorted(((code, time(date)) for code, date in patient["events"]), key=lambda event: event[1])
        events = [event for event in events if event[1] <= time(patient["at"])]
        if max_length is not None:
            events = events[max(0, len(born) + len(events) + 1 - max_length):]
        return born + events

    def predict_proba(self, patients):
        """The probability of each of \`classes_\`, one row per patient: of the label that the model was fine-tuned to,
        or else of each code, given that something is recorded at that time."""
        if self.label:
            [yes] = self.session.run(["probability"], self.feeds(patients, self.max_length))
            return np.stack([1 - yes, yes], axis=1)
        [logits] = self.session.run(["answer"], self.feeds(patients))
        return softmax(logits)
${hasRisks ? riskMethod : ""}

def softmax(logits):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


if __name__ == "__main__":
    model = TrajGPT(os.path.dirname(os.path.abspath(__file__)))
    patient = {  # invented
        "sex": "female",
        "birth": ${json(birth)},
        "events": [
${lines.join("\n")}
        ],
        "at": ${json(at)},
    }
    probabilities = model.predict_proba([patient])[0]
${task && !riskTask ? labelShown(task.scoring.task) : codesShown(json(events[0]?.code))}${hasRisks ? risksShown : ""}`;
}

const riskSetUp = `        hazards = manifest["config"]["hazards"]
        self.outputs_ = [*self.tokens, *(group["name"] for group in hazards["groups"]), "death"]
        self.last_day = hazards["binDays"][-1]
        self.risks = onnxruntime.InferenceSession(os.path.join(folder, "${riskFile}"))
`;

const riskMethod = `
    def risk(self, patients, years):
        """The probability of a record within so many years of "at", death competing, of each of \`outputs_\` (codes, groups
        and death), one row per patient; and whether there is a record already: the risk is then that of another one."""
        days = np.full(len(patients), min(round(years * 365.25), self.last_day), np.float32)
        return self.risks.run(["risk", "recorded"], {**self.feeds(patients), "days": days})
`;

const risksShown = `
    risks, recorded = model.risk([patient], years=5)
    new = np.where(recorded[0], 0, risks[0])[: len(model.names)]
    print("recorded for the first time within five years:")
    for token in new.argsort()[::-1][:5]:
        print(f"{new[token]:.4f} {model.outputs_[token]} {model.names[token]}")
`;

const labelShown = (task: string) => `    print(f"{probabilities[1]:.4f} ${task}")
`;

const codesShown = (code: string) => `
    def show(p):
        for token in p.argsort()[::-1][:5]:
            print(f"{p[token]:.4f} {model.classes_[token]} {model.names[token]}")

    show(probabilities)

    # One more event, from the state alone, and a query half a year later: a step whose state is discarded.
    def run(session, feeds):
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))

    def after(out):
        return {name.replace("after.", "state."): value for name, value in out.items() if name.startswith("after.")}

    feeds = model.feeds([patient])
    step = onnxruntime.InferenceSession(os.path.join(os.path.dirname(os.path.abspath(__file__)), "step.onnx"))
    token, now = np.array([model.tokens[${code}]], np.int32), feeds["at"]
    out = run(step, {**after(run(model.session, feeds)), "token": token, "time": now})
    out = run(step, {**after(out), "token": token, "time": now + 182})
    show(softmax(out["logits"])[0])
`;

/** `example.html`: the browser library. */
export function pageExample(
	vocabulary: Vocabulary,
	{ records, population }: ExportManifest,
): string {
	const { birth, events, at } = invented(vocabulary, records.axis);
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>What comes next?</title>
<h1>What comes next?</h1>
${population ? `<p><strong>${population}</strong></p>\n` : ""}<p id="wait">One moment. If nothing comes: a browser opens this page only from a web server, such as
<code>python3 -m http.server --bind 127.0.0.1</code> in this folder, at http://127.0.0.1:8000/example.html.</p>
<ol id="answer"></ol>
<script type="module">
	// The browser library: \`trajgpt export --page\` puts it here; it is dist/browser of the package.
	import { loadModel } from "./trajgpt/trajgpt.js";

	const model = await loadModel("./");
	// An invented person.
	const patient = {
		sex: "female",
		birth: ${json(birth)},
		events: [
${events.map((event) => `			{ code: ${json(event.code)}, date: ${json(event.date)} },`).join("\n")}
		],
	};
	const { predictions } = await model.forecast(patient, [${json(at)}], { top: 5 });
	document.querySelector("#wait").remove();
	for (const { code, name, probability } of predictions[0].codes) {
		const item = document.createElement("li");
		item.textContent = \`\${probability.toFixed(4)} \${code} \${name}\`;
		document.querySelector("#answer").append(item);
	}
</script>
</html>
`;
}
