import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const neoplasms: Chapter = {
	category: "neoplasms",
	table: `
145 Cancer of mouth | 140-145 230.0 V10.01 V10.02 | C00-C08 D00.0 Z85.81
149 Cancer of larynx, pharynx, nasal cavities | 146-149 160-161 231.0 V10.21 V10.22
	| C09-C14 C30-C32 D02.0 Z85.21 Z85.22
150 Cancer of esophagus | 150 230.1 V10.03 | C15 D00.1 Z85.01
151 Cancer of stomach | 151 209.23 230.2 V10.04 | C16 C7A.092 D00.2 Z85.02
153 Colorectal cancer | 153-154 209.1 230.3-230.6 V10.05-V10.06
	| C18-C21 C7A.02 D01.0-D01.3 Z85.03-Z85.04
155 Cancer of liver and intrahepatic bile duct | 155 230.8 V10.07 | C22 D01.5 Z85.05
157 Pancreatic cancer | 157 | C25 Z85.07
158 Neoplasm of unspecified nature of digestive system | 235.2-235.3 239.0 | D37.1-D37.9 D49.0
159 Cancer of other digestive organs and peritoneum
	| 152 156 158 159 209.0 230.7 230.9 V10.00 V10.09
	| C17 C23-C24 C26 C45.1 C48 C7A.01 D01.4 D01.7 D01.9 Z85.00 Z85.06 Z85.09
164 Cancer of intrathoracic organs | 164 209.22 | C37-C38 C45.2 C7A.091
165 Cancer within the respiratory system | 162-163 165 209.21 231.1-231.9 239.1 V10.1 V10.2
	| C33-C34 C38.4 C39 C45.0 C7A.090 D02.1-D02.4 D49.1 Z85.1 Z85.2
170 Cancer of bone and connective tissue | 170-171 V10.81 | C40-C41 C47 C49 Z85.83
172 Skin cancer | 172-173 209.31-209.36 232 V10.82-V10.83 | C43-C44 C4A D03-D04 Z85.82
173 Neoplasm of uncertain behavior of skin | 238.2 | D48.5
174 Breast cancer | 174-175 233.0 238.3 239.3 V10.3 | C50 D05 D48.6 D49.3 Z85.3
175 Acquired absence of breast | 612 V45.71 V51.0 | N65 Z42.1 Z90.1
180 Cervical cancer and dysplasia | 180 233.1 622.1 V10.41 | C53 D06 N87 Z85.41
182 Malignant neoplasm of uterus | 179 182 233.2 V10.42 | C54-C55 D07.0 Z85.42
184 Cancer of other female genital organs | 181 183-184 233.3 236.0-236.3 V10.40 V10.43-V10.44
	| C51-C52 C56-C58 D07.1-D07.3 D39 Z85.40 Z85.43-Z85.44
185 Cancer of prostate | 185 233.4 V10.46 | C61 D07.5 Z85.46
187 Cancer of other male genital organs | 186-187 233.5-233.6 236.4 236.6 V10.45 V10.47-V10.49
	| C60 C62-C63 D07.4 D07.6 D40.1-D40.9 Z85.45 Z85.47-Z85.49
189 Cancer of urinary organs (incl. kidney and bladder) | 188-189 209.24 233.7-233.9 V10.5
	| C64-C68 C7A.093 D09.0-D09.1 Z85.5
190 Cancer of eye | 190 234.0 V10.84 | C69 D09.2 Z85.840
191 Malignant and unknown neoplasms of brain and nervous system
	| 191-192 237.5-237.6 239.6 V10.85-V10.86 | C70-C72 D42-D43 D49.6 Z85.841 Z85.848
193 Thyroid cancer | 193 V10.87 | C73 Z85.850
194 Cancer of other endocrine glands | 194 V10.88 | C74-C75 D09.3 Z85.858
195 Cancer, suspected or other | 195 199 209.2-209.3 234 338.3 V10.8 V10.9 V71.1
	| C45.7 C45.9 C76 C7A C80 D09.8-D09.9 G89.3 Z85.8 Z85.9
196 Radiotherapy | V58.0 V66.1 V67.1 | Z51.0
197 Chemotherapy | V58.1 V66.2 V67.2 V87.41 | Z51.1 Z92.21
198 Secondary malignant neoplasm | 196-198 209.7 511.81 789.51 | C77-C79 C7B J91.0 R18.0
199 Neoplasm of uncertain behavior | 235-239 | D37-D38 D40-D41 D44 D48 D49 Q85.0
200 Myeloproliferative disease | 238.4-238.7 | C94.4 C94.6 D45-D47
201 Hodgkin's disease | 201 V10.72 | C81 Z85.71
202 Cancer of other lymphoid, histiocytic tissue | 200 202 V10.7 | C82-C88 C96 Z85.7
204 Leukemia | 202.4 203-208 V10.6 | C90-C95 Z85.6
208 Benign neoplasm of colon | 209.5 211.3 211.4 V12.72 | D12 D3A.02 K63.5 Z86.010
209 Neuroendocrine tumors | 209 V10.91 | D3A Z85.020 Z85.030 Z85.040 Z85.060 Z85.110
210 Benign neoplasm of lip, oral cavity, and pharynx | 210 | D10-D11
211 Benign neoplasm of other parts of digestive system | 211 | D13 D19.1
212 Benign neoplasm of respiratory and intrathoracic organs | 212 | D14-D15 D19.0
213 Benign neoplasm of bone and articular cartilage | 213 | D16
214 Lipoma | 214 | D17
215 Other benign neoplasm of connective and other soft tissue | 215 | D20-D21 D36.1
216 Benign neoplasm of skin | 216 | D22-D23
217 Vascular hamartomas and non-neoplastic nevi | 448.1 757.32 | I78.1
218 Benign neoplasm of uterus | 218-219 | D25-D26
220 Benign neoplasm of ovary | 220 | D27
221 Benign neoplasm of other female genital organs | 221 | D28
222 Benign neoplasm of male genital organs | 222 | D29
223 Benign neoplasm of kidney and other urinary organs | 223 | D30
224 Benign neoplasm of eye | 224 | D31
225 Benign neoplasm of brain and other parts of nervous system | 225 | D32-D33
226 Benign neoplasm of thyroid glands | 226 | D34
227 Benign neoplasm of other endocrine glands and related structures | 227 | D35
228 Hemangioma and lymphangioma, any site | 228 | D18
229 Benign neoplasm of unspecified sites | 229 | D19 D36
230 Kaposi's sarcoma | 176 | C46
860 Bone marrow or stem cell transplant | 996.85 V42.8 | T86.0 T86.5 Z94.8
`,
};
