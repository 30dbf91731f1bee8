"""Models in the forms of other programs: ONNX, SQL, PMML, one file of Python, SHAP.

Every form is written from :class:`privet.models.formula.Formula`, so a new way of voting or a new link is one place
there and one line in each form.
"""
